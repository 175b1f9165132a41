# Petal: `make help` lists the targets.

CC ?= cc
# RELEASE=1: without assertions, and stripped at installation. Otherwise assertions check what comments require.
ifeq ($(RELEASE),1)
BUILD ?= build/release
OPTIMIZE ?= -O2 -g -DNDEBUG
# A memory error should end the process instead of running injected code; the tools, which read other people's text, get more checks.
# Sanitizers bring their own.
STACK_PROTECTOR = -fstack-protector
$(BUILD)/tools/%.o: STACK_PROTECTOR = -fstack-protector-strong
$(BUILD)/tests/%.o: HARDEN =
HARDEN = $(if $(SANITIZE),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 $(STACK_PROTECTOR))
else
BUILD ?= build
endif
CSTD = -std=c11
WARNINGS = -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wvla
OPTIMIZE ?= -O2 -g
# Once installed, petal.h is in the same directory as petal_bloom.h and petal_hfile.h, which include it by that name.
CPPFLAGS += -I. -idirafter engine -D_GNU_SOURCE
CFLAGS_ALL = $(CSTD) $(WARNINGS) $(OPTIMIZE) $(HARDEN) -fPIC -fvisibility=hidden -pthread $(SANITIZE) $(CFLAGS)
LDFLAGS_ALL = -pthread $(SANITIZE) -Wl,-z,relro,-z,now,-z,noexecstack $(LDFLAGS)
LIB_LIBS = -llz4 -lxxhash -lpcre2-8 -lm
SANITIZE ?=

# The public header has the version.  No number sign in a function's arguments: versions of make disagree on how to write one there.
NUMBER_IN = $(shell awk '$$2 == "$(1)" {print $$3}' $(2))
VERSION_NUMBER = $(call NUMBER_IN,PETAL_VERSION_$(1),engine/petal.h)
VERSION := $(call VERSION_NUMBER,MAJOR).$(call VERSION_NUMBER,MINOR).$(call VERSION_NUMBER,PATCH)
SONAME := libpetal.so.$(call VERSION_NUMBER,MAJOR)

# What the tools are linked with: archives, so that they work without an installation, or $(BUILD)/libpetal.so and libpetal-bloom.so.
TOOL_LIBRARY ?= $(BUILD)/libpetal.a
BLOOM_TOOL_LIBRARY = $(subst libpetal.,libpetal-bloom.,$(TOOL_LIBRARY))

# One short line a file; V=1 shows the commands.
ifeq ($(V),1)
say = $(1)
else
say = @printf '  %-4s %s\n' $(2) '$@' && $(1)
endif

LIB_FOLDERS = base bloom cache memtable sstable engine
# The C files in a folder and its rooms.
sources_in = $(sort $(shell find $(1) -name '*.c'))
LIB_SOURCES = $(call sources_in,$(LIB_FOLDERS))
LIB_OBJECTS = $(LIB_SOURCES:%.c=$(BUILD)/%.o)
# The sets are a library of their own, which has its own copy of what it uses of base/ and bloom/; the store uses none of them.
SET_OBJECTS = $(patsubst %.c,$(BUILD)/%.o,$(call sources_in,$(addprefix bloom/,bitmap distinct file filter)) bloom/hash_sort.c)
STORE_OBJECTS = $(filter-out $(SET_OBJECTS),$(LIB_OBJECTS))
BLOOM_LIBRARIES = $(BUILD)/libpetal-bloom.a $(BUILD)/libpetal-bloom.so
SHELL_ROOMS = $(call sources_in,tools/shell) tools/command/option.c
SHELL_SOURCES = tools/kv-shell.c $(SHELL_ROOMS)
RECORD_SOURCES = $(addprefix tools/shell/,files/record.c files/fields.c text/text.c text/memory.c)
NEAREST_SOURCES = tools/command/nearest.c tools/shell/text/near.c
CHECK_ROOMS = $(call sources_in,tools/check tools/command)
CHECK_SOURCES = tools/kv-check.c $(CHECK_ROOMS) $(addprefix tools/shell/text/,text.c json.c memory.c near.c progress.c clock.c)
FILTER_SOURCES = tools/kv-filter.c $(call sources_in,tools/lines tools/command) $(addprefix tools/shell/text/,text.c json.c memory.c near.c progress.c clock.c)
BENCH_SOURCES = tools/kv-bench.c $(call sources_in,tools/bench)
TEST_SOURCES = $(call sources_in,tests)
# Rooms of tests/ that are separate programs.
TEST_PROGRAMS = conformance cost coverage examples fuzz hfile interop kernel memory mutants package replay schedule soak
SHARED_TEST_SOURCES = $(filter-out %_test.c $(addprefix tests/,$(addsuffix /%,$(TEST_PROGRAMS))),$(TEST_SOURCES))
CONFORMANCE_SOURCES = $(call sources_in,tests/conformance) tests/support/test_support.c $(addprefix tests/disk/,file.c tree.c vfs.c control.c)
REPLAY_SOURCES = $(call sources_in,tests/replay) tests/support/test_support.c $(addprefix tools/shell/text/,memory.c text.c)
SOAK_SOURCES = $(call sources_in,tests/soak) $(addprefix tests/support/,process.c test_support.c)
KERNEL_SOURCES = $(call sources_in,tests/kernel) tests/crash/ledger.c $(addprefix tests/support/,process.c test_support.c)
INTEROP_SOURCES = $(call sources_in,tests/interop) tests/support/test_support.c

# WITHOUT_HEADERS names headers to be treated as missing.
HAVE_HEADER = $(if $(filter $(WITHOUT_HEADERS),$(1)),,$(shell $(CC) $(CPPFLAGS) $(if $(2),-I$(2)/include) -include $(1) -E -x c /dev/null >/dev/null 2>&1 && echo yes))

# The library of HBase's files is built if all its dependencies are present; ZSTD is optional.
HFILE_COMMANDS = $(call sources_in,tools/hfile/commands)
HFILE_SOURCES = $(filter-out $(HFILE_COMMANDS),$(call sources_in,tools/hfile))
HFILE_TOOL_SOURCES = tools/kv-hfile.c $(HFILE_COMMANDS) $(call sources_in,tools/command) $(addprefix tools/shell/text/,text.c json.c memory.c near.c progress.c clock.c)
HFILE_TEST_SOURCES = $(filter tests/hfile/%,$(TEST_SOURCES))
HAVE_HFILE := $(filter yes,$(call HAVE_HEADER,zlib.h -include snappy-c.h -include isa-l/crc.h))
ifeq ($(HAVE_HFILE),yes)
HFILE_OBJECTS = $(HFILE_SOURCES:%.c=$(BUILD)/%.o)
HFILE_ARCHIVE = $(BUILD)/libpetal-hfile.a
HFILE_LIBRARIES = $(HFILE_ARCHIVE) $(BUILD)/libpetal-hfile.so
$(BUILD)/tools/shell/files/hfiles.o: CPPFLAGS += -DHAVE_HFILE
HFILE_TOOL = $(BUILD)/kv-hfile
# The form that the tools are linked with: a, or so.
HFILE_FORM ?= a
HFILE_TOOL_LIBRARY = $(BUILD)/libpetal-hfile.$(HFILE_FORM)
HFILE_LIBS = -lz -lsnappy -llz4 -lisal
ifeq ($(call HAVE_HEADER,zstd.h),yes)
$(BUILD)/tools/hfile/%.o: CPPFLAGS += -DHAVE_ZSTD
HFILE_LIBS += -lzstd
HFILE_NEEDS = libzstd=zstd
endif
else
HFILE_LIBRARIES = no-hfile
TEST_SOURCES := $(filter-out $(HFILE_TEST_SOURCES) tests/fuzz/hfile%,$(TEST_SOURCES))
endif
TESTS = $(patsubst %.c,$(BUILD)/%,$(filter %_test.c,$(TEST_SOURCES)))
C_FILES = $(sort $(shell find $(LIB_FOLDERS) tools tests -name '*.[ch]' -o -name '*.cpp'))

.PHONY: all
all: $(BUILD)/libpetal.a $(BUILD)/libpetal.so $(BLOOM_LIBRARIES) $(BUILD)/kv-shell $(BUILD)/kv-check $(BUILD)/kv-filter $(BUILD)/kv-bench $(HFILE_LIBRARIES) $(HFILE_TOOL) python-objects ## build the library and the tools (the default)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -MMD -MP -c $< -o $@,CC)

# For a rival in kv-bench with a C++ interface; the C++ compiler that matches CC, for the sanitizers.
CXX_OF_CC = $(if $(findstring clang,$(CC)),clang++,$(CXX))
$(BUILD)/%.o: %.cpp
	@mkdir -p $(@D)
	$(call say,$(CXX_OF_CC) $(CPPFLAGS) -std=c++17 -Wall -Wextra -Wshadow -Wconversion $(OPTIMIZE) $(HARDEN) -fPIC -pthread $(SANITIZE) $(CFLAGS) -MMD -MP -c $< -o $@,CXX)

# Library $(1) of the objects $(2), as an archive and as a shared one, which is linked with $(3) after $(4) is built. The archive is one
# relocatable object whose hidden names are made local: nothing but petal_ names leaves it. tools/package/$(1).map says which names the
# shared one gives away, and of which version. It has a name that programs are linked with, and one under which they find it.
define LIBRARY
$$(BUILD)/$(1).o: $(2)
	$$(call say,$$(LD) -r -o $$@ $$^ && objcopy --localize-hidden $$@,LD)

$$(BUILD)/lib$(1).a: $$(BUILD)/$(1).o
	$$(call say,rm -f $$@ && $$(AR) rcs $$@ $$<,AR)

$$(BUILD)/lib$(1).so.$$(VERSION): $(2) tools/package/$(1).map | $(4)
	$$(call say,$$(CC) -shared -Wl$$(comma)-soname$$(comma)$$(SONAME:libpetal%=lib$(1)%) -Wl$$(comma)--version-script=tools/package/$(1).map -o $$@ $(2) $$(LDFLAGS_ALL) $(3),LINK)

$$(BUILD)/lib$(1).so: $$(BUILD)/lib$(1).so.$$(VERSION)
	$$(call say,ln -sf $$(<F) $$(@D)/$$(SONAME:libpetal%=lib$(1)%) && ln -sf $$(SONAME:libpetal%=lib$(1)%) $$@,LN)
endef

$(eval $(call LIBRARY,petal,$$(STORE_OBJECTS),$$(LIB_LIBS)))

# The archive of all objects gives what the sets use.
BLOOM_LIBS = -lxxhash -lm
$(eval $(call LIBRARY,petal-bloom,$$(SET_OBJECTS) $$(BUILD)/libpetal-internal.a,$$(BLOOM_LIBS)))

# The library of HBase's files stands on the public names of libpetal, which it finds next to itself, also for a program that asks for it
# alone. (The system's places need no such word.)
HFILE_BESIDE ?= -Wl,-rpath,'$$ORIGIN'
$(eval $(call LIBRARY,petal-hfile,$$(HFILE_OBJECTS),$$(HFILE_BESIDE) -L$$(BUILD) -lpetal $$(HFILE_LIBS) -lm,$$(BUILD)/libpetal.so))

$(BUILD)/kv-hfile: $(HFILE_TOOL_SOURCES:%.c=$(BUILD)/%.o) $(HFILE_TOOL_LIBRARY) $(TOOL_LIBRARY)
	$(call say,$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIB_LIBS) $(HFILE_LIBS),LINK)

.PHONY: no-hfile
no-hfile:
	@echo "  libpetal-hfile is not built: zlib.h, snappy-c.h or isa-l/crc.h is not there (make deps)"

# The library for tests, with all names visible.
$(BUILD)/libpetal-internal.a: $(LIB_OBJECTS)
	$(call say,rm -f $@ && $(AR) rcs $@ $^,AR)

# The shell's language is mruby; what it has of its own is compiled in.
SHELL_PRELUDE = $(BUILD)/tools/shell/ruby/prelude
SHELL_LIBS = -ledit -lmruby
.PHONY: need-mruby
need-mruby:
	@$(CC) $(CPPFLAGS) -include mruby.h -E -x c /dev/null >/dev/null 2>&1 && command -v mrbc >/dev/null || \
		{ echo "kv-shell needs mruby: mruby.h or mrbc is not there (make deps)" >&2; exit 1; }
$(SHELL_PRELUDE).c $(patsubst %.c,$(BUILD)/%.o,$(call sources_in,tools/shell/ruby)): | need-mruby
$(SHELL_PRELUDE).c: tools/shell/ruby/prelude.rb
	@mkdir -p $(@D)
	$(call say,mrbc -g -B ruby_prelude -o $@ $<,MRBC)
SHELL_COMMANDS = $(BUILD)/tools/shell/ruby/commands
$(SHELL_COMMANDS).c: $(sort $(wildcard tools/shell/ruby/commands/*.rb)) | need-mruby
	@mkdir -p $(@D)
	$(call say,mrbc -B ruby_commands -o $@ $(filter %.rb,$^),MRBC)
SHELL_RUBY = $(SHELL_PRELUDE).o $(SHELL_COMMANDS).o
$(SHELL_RUBY): %.o: %.c
	$(call say,$(CC) $(OPTIMIZE) $(SANITIZE) -c $< -o $@,CC)

$(BUILD)/kv-shell: $(SHELL_SOURCES:%.c=$(BUILD)/%.o) $(SHELL_RUBY) $(HFILE_TOOL_LIBRARY) $(TOOL_LIBRARY)
	$(call say,$(CC) -o $@ $^ $(LDFLAGS_ALL) $(SHELL_LIBS) $(LIB_LIBS) $(HFILE_LIBS),LINK)

# kv-check parses files that the library would refuse, so it needs all names of the library, whatever TOOL_LIBRARY is.
$(BUILD)/kv-check: $(CHECK_SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/libpetal-internal.a
	$(call say,$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIB_LIBS),LINK)

$(BUILD)/kv-filter: $(FILTER_SOURCES:%.c=$(BUILD)/%.o) $(BLOOM_TOOL_LIBRARY) $(TOOL_LIBRARY)
	$(call say,$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIB_LIBS),LINK)

# Rivals in kv-bench, each if its development package is installed. ROCKSDB_DIR, LEVELDB_DIR: a directory with another build, include/
# and the library in it; ROCKSDB_NEEDS, LEVELDB_NEEDS: the libraries that a static one links with. Another choice needs another BUILD.
ROCKSDB_NEEDS ?= -lsnappy -lz -lbz2 -lzstd -llz4 -lstdc++ -ldl
LEVELDB_NEEDS ?= -lsnappy -lstdc++
# Library $(1) of directory $(2): the file, shared if possible, and its run path, or the libraries it needs.
FILE_OF = $(firstword $(wildcard $(foreach kind,so a,$(addsuffix /lib$(1).$(kind),$(2) $(2)/lib $(2)/build))))
LIBRARY_OF = $(if $(2),$(call FILE_OF,$(1),$(2)) $(if $(filter %.so,$(call FILE_OF,$(1),$(2))),-Wl$(comma)-rpath$(comma)$(abspath $(dir $(call FILE_OF,$(1),$(2)))),$(3)),-l$(1))
comma = ,
PEER_HEADERS = rocksdb/c.h rocksdb/filter_policy.h leveldb/c.h lmdb.h bloom.h
OPTIONAL_HEADERS = $(PEER_HEADERS) zlib.h snappy-c.h isa-l/crc.h zstd.h
ifeq ($(call HAVE_HEADER,rocksdb/c.h,$(ROCKSDB_DIR)),yes)
CPPFLAGS += -DHAVE_ROCKSDB
ROCKSDB_NUMBER = $(call NUMBER_IN,ROCKSDB_$(1),$(or $(ROCKSDB_DIR:%=%/include),/usr/include)/rocksdb/version.h)
$(BUILD)/tools/bench/stores/rocksdb.o: CPPFLAGS += $(if $(ROCKSDB_DIR),-I$(ROCKSDB_DIR)/include -DROCKSDB_DIR='"$(ROCKSDB_DIR)"') \
	-DROCKSDB_MAJOR_VERSION=$(call ROCKSDB_NUMBER,MAJOR) \
	-DROCKSDB_VERSION='"$(call ROCKSDB_NUMBER,MAJOR).$(call ROCKSDB_NUMBER,MINOR).$(call ROCKSDB_NUMBER,PATCH)"'
$(BUILD)/tools/bench/stores/rocksdb.o: $(wildcard $(ROCKSDB_DIR:%=%/include/rocksdb/c.h))
PEER_LIBS += $(call LIBRARY_OF,rocksdb,$(ROCKSDB_DIR),$(ROCKSDB_NEEDS))
endif
# RocksDB's standalone filters need C++, and are those of version 7.
HAVE_CXX_HEADER = $(shell $(CXX_OF_CC) $(CPPFLAGS) $(if $(2),-I$(2)/include) -std=c++17 -include $(1) -E -x c++ /dev/null >/dev/null 2>&1 && echo yes)
ifeq ($(call ROCKSDB_NUMBER,MAJOR)$(call HAVE_CXX_HEADER,rocksdb/filter_policy.h,$(ROCKSDB_DIR)),7yes)
CPPFLAGS += -DHAVE_ROCKSDB_FILTERS
BENCH_CXX_SOURCES = tools/bench/bloom_kinds/rocksdb.cpp
$(BUILD)/tools/bench/bloom_kinds/rocksdb.o: CPPFLAGS += $(ROCKSDB_DIR:%=-I%/include)
PEER_LIBS += -lstdc++
endif
ifeq ($(call HAVE_HEADER,leveldb/c.h,$(LEVELDB_DIR)),yes)
CPPFLAGS += -DHAVE_LEVELDB
$(BUILD)/tools/bench/stores/leveldb.o: CPPFLAGS += $(if $(LEVELDB_DIR),-I$(LEVELDB_DIR)/include -DLEVELDB_DIR='"$(LEVELDB_DIR)"')
$(BUILD)/tools/bench/stores/leveldb.o: $(wildcard $(LEVELDB_DIR:%=%/include/leveldb/c.h))
PEER_LIBS += $(call LIBRARY_OF,leveldb,$(LEVELDB_DIR),$(LEVELDB_NEEDS))
endif
ifeq ($(call HAVE_HEADER,lmdb.h),yes)
CPPFLAGS += -DHAVE_LMDB
PEER_LIBS += -llmdb
endif
ifeq ($(call HAVE_HEADER,bloom.h),yes)
CPPFLAGS += -DHAVE_LIBBLOOM
PEER_LIBS += -lbloom
endif

# kv-bench also measures the shell's reader of records, and calls the compaction policy, the borders of regions and the pace of writers, which the library does not export.
$(BUILD)/kv-bench: $(BENCH_SOURCES:%.c=$(BUILD)/%.o) $(BENCH_CXX_SOURCES:%.cpp=$(BUILD)/%.o) $(RECORD_SOURCES:%.c=$(BUILD)/%.o) $(NEAREST_SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/tools/command/option.o $(BUILD)/tools/command/value.o $(BUILD)/engine/compact/policy.o $(BUILD)/engine/compact/plan.o $(BUILD)/engine/region/border.o $(BUILD)/engine/write/pace_share.o $(BLOOM_TOOL_LIBRARY) $(TOOL_LIBRARY)
	$(call say,$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIB_LIBS) $(PEER_LIBS) -ljansson,LINK)

# The internal names as a shared library, so that one object can be changed without linking the tests again (tests/mutants).
TESTS_SONAME_FLAG = -Wl,-soname,libpetal-tests.so
$(BUILD)/libpetal-tests.so: $(LIB_OBJECTS)
	$(call say,$(CC) -shared $(TESTS_SONAME_FLAG) -o $@ $^ $(LDFLAGS_ALL) $(LIB_LIBS),LINK)

TEST_LIBRARY ?= $(BUILD)/libpetal-internal.a
$(BUILD)/tests/%_test: $(BUILD)/tests/%_test.o $(SHARED_TEST_SOURCES:%.c=$(BUILD)/%.o) $(TEST_LIBRARY)
	$(call say,$(CC) -o $@ $(filter %.o,$^) $(filter %.a %.so,$^) $(LDFLAGS_ALL) $(LIB_LIBS) -lcmocka,LINK)

# Tests of HBase's files link that library's objects.
HFILE_TESTS = $(patsubst %.c,$(BUILD)/%,$(filter %_test.c,$(HFILE_TEST_SOURCES)))
$(HFILE_TESTS): $(HFILE_OBJECTS) $(patsubst %.c,$(BUILD)/%.o,$(filter-out %_test.c,$(HFILE_TEST_SOURCES)))
$(HFILE_TESTS): LIB_LIBS += $(HFILE_LIBS)

# The library built so that each place that makes a file call or allocates is known (tests/crash/failure_site.h). The files between
# those places and the system are compiled unchanged: they pass the place on.
SITES = $(BUILD)/tests/crash/sites
SITE_OBJECTS = $(LIB_SOURCES:%.c=$(SITES)/%.o)
WITHOUT_SITES = $(foreach name,base/mem.c base/mem.h base/directory.c base/directory.h base/vfs_posix.c,$(SITES)/$(name))
$(SITES)/%: % tests/crash/failure_sites.sed
	@mkdir -p $(@D) && if [ -n "$(filter $@,$(WITHOUT_SITES))" ]; then cp $< $@; else \
	{ echo '#line 1 "$<"'; sed -E -f tests/crash/failure_sites.sed $<; } >$@; fi
SITE_HEADERS = $(patsubst %,$(SITES)/%,$(shell find $(LIB_FOLDERS) -name '*.h'))
SITE_OPTIMIZE ?= -O1
$(SITE_OBJECTS): $(SITES)/%.o: $(SITES)/%.c tests/crash/failure_site.h | $(SITE_HEADERS)
	$(call say,$(CC) -I$(SITES) $(CPPFLAGS) $(CFLAGS_ALL) $(SITE_OPTIMIZE) -w -include tests/crash/failure_site.h -MMD -MP -c $< -o $@,CC)
# The objects, not an archive of them: each site counts, also in code that the test does not call.
FAILURE_TEST = $(BUILD)/tests/crash/failure_sites_test
$(FAILURE_TEST): $(FAILURE_TEST).o $(SHARED_TEST_SOURCES:%.c=$(BUILD)/%.o) $(SITE_OBJECTS)
	$(call say,$(CC) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS_ALL) $(LIB_LIBS) -lcmocka,LINK)

# Tests of the shell's parts link those parts.
SHELL_TESTS = $(addprefix $(BUILD)/tests/tools/shell/,text_test count_test interrupt_test transaction_test)
$(SHELL_TESTS): $(SHELL_ROOMS:%.c=$(BUILD)/%.o) $(SHELL_RUBY) $(HFILE_ARCHIVE)
$(SHELL_TESTS): LIB_LIBS += $(HFILE_LIBS) $(SHELL_LIBS)

$(BUILD)/tests/tools/shell/format_test: $(addprefix $(BUILD)/tools/shell/,print/format.o print/width.o text/json.o text/text.o text/memory.o)
# These tests start a tool.
$(addprefix $(BUILD)/tests/tools/shell/,terminal_test interrupt_test): | $(BUILD)/kv-shell
$(BUILD)/tests/tools/lines/bitmaps_test: | $(BUILD)/kv-filter

# Tests of the benchmark's parts link those parts.
BENCH_TEST = $(BUILD)/tests/tools/bench/$(1)_test
BENCH_PARTS = $(patsubst %,$(BUILD)/tools/bench/%.o,$(1))
$(call BENCH_TEST,histogram): $(call BENCH_PARTS,harness/histogram harness/permutation harness/util)
$(call BENCH_TEST,driver): $(call BENCH_PARTS,harness/driver harness/histogram harness/util)
$(call BENCH_TEST,result): $(call BENCH_PARTS,results/file results/result results/repeats harness/histogram harness/others harness/process harness/util)
$(call BENCH_TEST,result): LIB_LIBS += -ljansson
$(call BENCH_TEST,table): $(call BENCH_PARTS,results/table results/print results/result results/repeats harness/histogram harness/others harness/process harness/util)
$(call BENCH_TEST,others): $(call BENCH_PARTS,harness/others harness/util)
$(call BENCH_TEST,distribution): $(call BENCH_PARTS,keys/distribution harness/util)
$(call BENCH_TEST,pairs): $(call BENCH_PARTS,keys/pairs keys/fields harness/util)
$(call BENCH_TEST,simulate_store): $(call BENCH_PARTS,simulate/store harness/util)
$(call BENCH_TEST,simulate_table): $(call BENCH_PARTS,simulate/table simulate/compactor simulate/store harness/histogram harness/util)
$(call BENCH_TEST,readamp_model): $(call BENCH_PARTS,readamp/model harness/bits)
$(call BENCH_TEST,glance): $(call BENCH_PARTS,readamp/glance)

# Kills processes at work and checks their databases; uses the public library.
$(BUILD)/soak: $(SOAK_SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/libpetal.a
	$(call say,$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIB_LIBS),LINK)

# Shuts down file systems of this kernel under processes at work; uses the public library.
$(BUILD)/kernel-cuts: $(KERNEL_SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/libpetal.a
	$(call say,$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIB_LIBS),LINK)

tests: $(BUILD)/soak $(BUILD)/kernel-cuts

# Petal's side of the comparison with a real HBase.
$(BUILD)/interop/petal: $(INTEROP_SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/libpetal-hfile.a $(BUILD)/libpetal.a
	@mkdir -p $(@D)
	$(call say,$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIB_LIBS) $(HFILE_LIBS),LINK)

# Runs recorded HBase cases; the only internal call it needs is the compaction of some files.
$(BUILD)/conformance: $(CONFORMANCE_SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/libpetal-internal.a
	$(call say,$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIB_LIBS),LINK)

# Replays recorded sessions of the HBase shell through kv-shell.
$(BUILD)/replay-shell: $(REPLAY_SOURCES:%.c=$(BUILD)/%.o)
	$(call say,$(CC) -o $@ $^ $(LDFLAGS_ALL),LINK)

# Threads scheduled by a seed; in a separate build, see `make schedules`. The scheduler itself is not instrumented.
SCHEDULE_SOURCES = $(call sources_in,tests/schedule) $(addprefix tests/threads/,history.c program.c) $(addprefix tests/disk/,file.c tree.c vfs.c control.c paths.c) tests/support/test_support.c
$(addprefix $(BUILD)/tests/schedule/,schedule.o calls.o atomics.o): override SANITIZE :=
$(BUILD)/schedules: $(SCHEDULE_SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/libpetal-internal.a
	$(call say,$(CC) -o $@ $^ @tests/schedule/wrapped -pthread $(LDFLAGS) $(LIB_LIBS),LINK)

# Operations whose instructions `make cost` counts; uses the public library.
$(BUILD)/cost: $(BUILD)/tests/cost/main.o $(BUILD)/libpetal.a
	$(call say,$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIB_LIBS),LINK)

# Single calls whose path through the library `make paths` counts; linked with the objects, so that each reports its executed lines.
$(BUILD)/paths: $(BUILD)/tests/cost/paths.o $(LIB_OBJECTS)
	$(call say,$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIB_LIBS),LINK)

# Does a process keep to the memory limit?  Uses the public library.
$(BUILD)/memory: $(BUILD)/tests/memory/main.o $(BUILD)/libpetal.a
	$(call say,$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIB_LIBS),LINK)

.PHONY: tests
tests: $(TESTS) $(BUILD)/conformance $(BUILD)/replay-shell $(BUILD)/memory ## build the tests

# ---- setting up --------------------------------------------------------------------------------

PACKAGES = build-essential pkg-config liblz4-dev libxxhash-dev libpcre2-dev libedit-dev libmruby-dev mruby libcmocka-dev libjansson-dev $(HFILE_PACKAGES) $(PYTHON_PACKAGES)
PYTHON_PACKAGES = python3-dev python3-cffi python3-pytest python3-setuptools python3-wheel python3-venv
HFILE_PACKAGES = zlib1g-dev libsnappy-dev libisal-dev libzstd-dev
# cmake, meson, ninja-build and mandoc are for `make packages`.
CHECK_PACKAGES = golang-go cmake meson ninja-build mandoc clang clang-format libclang-rt-14-dev valgrind e2fsprogs xfsprogs btrfs-progs
BENCH_PACKAGES = liblmdb-dev libleveldb-dev librocksdb-dev libbloom-dev gnuplot-nox valgrind
SUDO = $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# Installs the missing packages, and names them.
define install
	@missing=$$(for p in $(1); do dpkg-query -W -f '$${Status}\n' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -z "$$missing" ]; then echo "all packages are there: $(1)"; else \
	echo "installing with apt-get:" $$missing; \
	$(SUDO) apt-get update -q && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing; fi
endef

.PHONY: deps check-deps bench-deps
deps: ## install the packages for build, demo and tests (Debian; sudo only if not root)
	$(call install,$(PACKAGES))
check-deps: deps ## install what `make check` needs in addition
	$(call install,$(CHECK_PACKAGES))
bench-deps: deps ## install the stores that kv-bench compares with, gnuplot, and valgrind for `make cost`
	$(call install,$(BENCH_PACKAGES))

# ---- installing --------------------------------------------------------------------------------

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
PUT_FILES = CC="$(CC)" BUILD="$(BUILD)" VERSION="$(VERSION)" SONAME="$(SONAME)" DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" BINDIR="$(BINDIR)" \
	LIBDIR="$(LIBDIR)" INCLUDEDIR="$(INCLUDEDIR)" MANDIR="$(MANDIR)" HFILE_NEEDS="$(HFILE_NEEDS)" tools/package/install.sh

.PHONY: install uninstall deb packages dist
ifeq ($(RELEASE),1)
install: all ## install a release build: headers, libraries, tools, man pages; PREFIX=/usr/local, BINDIR, LIBDIR, INCLUDEDIR, MANDIR, DESTDIR
	@$(PUT_FILES) install
uninstall: ## remove the files that `make install` with the same settings installed
	@$(PUT_FILES) uninstall
endif

dist: ## pack the committed sources, $(BUILD)/petal-VERSION.tar.xz; the same commit gives the same bytes
	@VERSION=$(VERSION) tools/package/dist.sh $(BUILD)

# Tests that build the library once more, or need CMake, meson or mandoc, which `make check-deps` installs.
packages: all ## check what `make install`, `deb` and `dist` make, that CMake and meson find it, that recipes work, and manual pages are in order
	SANITIZE="$(SANITIZE)" CC="$(CC)" tests/run.sh $(BUILD) packages

# A separate build, with Debian's flags, tools that use the shared library, and no rivals in kv-bench: the package would depend on them.
DEB_FLAGS = $(shell DEB_BUILD_MAINT_OPTIONS=hardening=+bindnow dpkg-buildflags --get $(1))
DEB_BUILD = RELEASE=1 BUILD=$(BUILD)/deb/build TOOL_LIBRARY=$(BUILD)/deb/build/libpetal.so HFILE_FORM=so HFILE_BESIDE= WITHOUT_HEADERS='$(PEER_HEADERS)'
deb: ## build Debian packages, build/deb/*.deb: libpetal0, libpetal-dev, petal-tools, and libpetal-bloom0, libpetal-bloom-dev, libpetal-hfile0, libpetal-hfile-dev
	+@CPPFLAGS="$(call DEB_FLAGS,CPPFLAGS) -DNDEBUG" $(MAKE) --no-print-directory $(DEB_BUILD) SANITIZE= OPTIMIZE="$(call DEB_FLAGS,CFLAGS)" CFLAGS= \
	LDFLAGS="$(call DEB_FLAGS,LDFLAGS) -Wl,-z,defs -Wl,--as-needed" all
	+@VERSION=$(VERSION) SONAME=$(SONAME) MAKE="$(MAKE)" DEB_BUILD="$(DEB_BUILD)" tools/package/deb.sh $(BUILD)/deb

# The number of jobs for README's commands if none is given: `deps` must be finished first, so they cannot use -j themselves.
ALL_PROCESSORS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

# ---- Python ------------------------------------------------------------------------------------

# The binding's own C needs no Python. The package is importable from $(BUILD)/python; the wheel has the library inside.
PYTHON ?= python3
PYTHON_OBJECTS = $(patsubst %.c,$(BUILD)/%.o,$(call sources_in,tools/python))
PYTHON_FILES = $(wildcard tools/python/petal/*) tools/python/build_native.py
PYTHON_BUILD = CC="$(CC)" PETAL_ROOT="$(CURDIR)" PETAL_BUILD="$(abspath $(BUILD))"
.PHONY: python python-objects wheel
python-objects: $(PYTHON_OBJECTS) $(BUILD)/libpetal.a

python: $(BUILD)/python/built ## build the Python package petal; PYTHONPATH=build/python finds it; tools/python/README.md
$(BUILD)/python/built: $(PYTHON_OBJECTS) $(BUILD)/libpetal.a engine/petal.h $(wildcard tools/python/native/*.h) $(PYTHON_FILES)
	@rm -rf $(@D) && mkdir -p $(@D)/petal && cp $(filter tools/python/petal/%,$^) $(@D)/petal
	$(call say,$(PYTHON_BUILD) $(PYTHON) tools/python/build_native.py $(@D) && rm -f $(@D)/petal/_native.[co] && touch $@,PY)

# In a copy, since setuptools writes next to what it builds.
ifeq ($(RELEASE),1)
wheel: $(PYTHON_OBJECTS) $(BUILD)/libpetal.a ## build a wheel of the Python package, $(BUILD)/wheel/petal-*.whl
	@rm -rf $(BUILD)/wheel && mkdir -p $(BUILD)/wheel && cp -r tools/python $(BUILD)/wheel/source
	cd $(BUILD)/wheel/source && $(PYTHON_BUILD) PYTHONWARNINGS=ignore $(PYTHON) setup.py -q bdist_wheel -d ..
else
wheel:
	+@$(MAKE) --no-print-directory RELEASE=1 BUILD=$(BUILD)/release $@
endif

# ---- using -------------------------------------------------------------------------------------

.PHONY: demo
demo: ## load Debian's package index, check every field, show on one screen the blocks that lookups read under each filter
	+@$(MAKE) --no-print-directory $(ALL_PROCESSORS) all
	tools/demo.sh $(BUILD)/kv-shell $(BUILD)/demo

# Stores without assertions, and a separate build linked with them; bench-quick uses it if present.
RIVAL_PACKAGES = cmake dpkg-dev libsnappy-dev librocksdb-dev
RIVALS ?= $(BUILD)/rivals
RIVAL_DIR = $(if $(or $($(2)),$(if $(wildcard $(RIVALS)/$(1)/lib/*),,none)),,$(2)=$(abspath $(RIVALS)/$(1)))
RIVAL_DIRS = $(strip $(call RIVAL_DIR,rocksdb,ROCKSDB_DIR) $(call RIVAL_DIR,leveldb,LEVELDB_DIR))
.PHONY: rivals rivals-bench
rivals: deps ## fetch RocksDB and LevelDB without assertions for bench-quick, in minutes; without Maven RocksDB takes an hour; needs a network
	$(call install,$(RIVAL_PACKAGES))
	@CXX="$(CXX_OF_CC)" tools/bench/rivals/rivals.sh $(RIVALS)
	+@$(MAKE) --no-print-directory RIVALS=$(RIVALS) rivals-bench

# A second make, which finds the fetched stores.
rivals-bench:
	+@$(MAKE) --no-print-directory $(ALL_PROCESSORS) RELEASE=1 BUILD=$(RIVALS) $(RIVAL_DIRS) $(RIVALS)/kv-bench
	$(RIVALS)/kv-bench compare --store petal,rocksdb,leveldb --rows hit --num 10k --gets 10k --repeats 1 --threads 1 --wait 0

.PHONY: bench-quick bench-table bench-table-small bench-table-large bench-report cost cost-check cost-accept
ifeq ($(RELEASE),1)
BENCH_RESULTS ?= $(BUILD)
bench-quick: $(BUILD)/kv-bench ## compare Petal with the stores of bench-deps, or `make rivals`, in about two minutes of a processor; results also in $(BUILD)/bench-quick.json
	BENCH_COMMIT="$$(git describe --always --dirty 2>/dev/null)" $(BUILD)/kv-bench quick --num 400k --gets 200k --json $(BENCH_RESULTS)/bench-quick.json

# README's tables: stores next to each other at a size that fits into processor caches, and at one that does not.
TABLE_SMALL = --num 200k --gets 100k --synced 60 --write-buffer 12M --repeats 5
TABLE_LARGE = --num 5M --gets 300k --synced 300 --repeats 3
TABLE_STORES = petal,rocksdb-tuned,rocksdb,leveldb,lmdb
TABLE = BENCH_COMMIT="$$(git describe --always --dirty 2>/dev/null)" $(BUILD)/kv-bench compare --markdown --store $(TABLE_STORES) --threads 1 --wait 600 \
	$(2) --json $(BENCH_RESULTS)/bench-table-$(1).json >$(BENCH_RESULTS)/bench-table-$(1).md && cat $(BENCH_RESULTS)/bench-table-$(1).md
bench-table-small: $(BUILD)/kv-bench
	$(call TABLE,small,$(TABLE_SMALL))
bench-table-large: $(BUILD)/kv-bench
	$(call TABLE,large,$(TABLE_LARGE))
bench-table: $(BUILD)/kv-bench ## measure README's tables of stores anew, also into $(BUILD)/bench-table-*.md; needs `make bench-deps rivals`, half an hour and an idle machine
	$(call TABLE,small,$(TABLE_SMALL))
	$(call TABLE,large,$(TABLE_LARGE))

bench-report: $(BUILD)/kv-bench ## draw the cost of reads and the comparison of stores, build/bench-report/index.html; minutes; QUICK=1: two; needs gnuplot
	tools/bench/report/report.sh $(BUILD)/kv-bench $(BENCH_RESULTS)/bench-report $(if $(QUICK),quick,full)

cost: $(BUILD)/cost ## count the instructions of single operations with callgrind; BEFORE=PROGRAM: compare with `cost` of another build
	@tests/cost/cost.sh $(BUILD)/cost $(BEFORE)

cost-check: $(BUILD)/cost ## report whether get, put, scan and seek take over 5 % more or fewer instructions; COST_STRICT=1: fail then
	@tests/cost/check.sh $(BUILD)/cost "$(CC)" "$(strip $(OPTIMIZE) $(CFLAGS) $(SANITIZE))"

cost-accept: $(BUILD)/cost ## accept the current counts as the reference of cost-check
	@tests/cost/check.sh $(BUILD)/cost "$(CC)" "$(strip $(OPTIMIZE) $(CFLAGS) $(SANITIZE))" accept
else
# Installations and measurements of time or instructions use a release build.
install uninstall cost cost-check cost-accept:
	+@$(MAKE) --no-print-directory RELEASE=1 BUILD=$(BUILD)/release $@
bench-quick bench-table bench-table-small bench-table-large bench-report:
	+@$(MAKE) --no-print-directory RELEASE=1 BUILD=$(if $(RIVAL_DIRS),$(RIVALS),$(BUILD)/release) $(RIVAL_DIRS) BENCH_RESULTS=$(BUILD) $@
endif

# Both need gcc and its gcov; their build is not optimized, so that no function is inlined.
PATHS = $(BUILD)/coverage
PATHS_COUNT = if ! gcc -dumpversion >/dev/null 2>&1 || ! gcov --version >/dev/null 2>&1; then echo "paths: skipped: there is no gcc with gcov"; \
	else $(MAKE) --no-print-directory BUILD=$(PATHS) CC=gcc OPTIMIZE="-O0 --coverage" CFLAGS= SANITIZE= LDFLAGS=--coverage $(PATHS)/paths && \
	tests/cost/paths.sh $(PATHS)/paths $(PATHS)

.PHONY: paths paths-accept
paths: ## count the functions, files and lines that a get, put, scan step and flush pass; fail if one has grown by more than 5 %; LIST=get: list functions
	+@$(PATHS_COUNT) $(LIST:%=list %); fi

paths-accept: ## accept the current counts as the reference of paths
	+@$(PATHS_COUNT) accept; fi

.PHONY: lines lines-accept
lines: ## count the lines of C by folder and room; fail if a folder has grown by more than 5 %
	@tests/cost/lines.sh

lines-accept: ## accept the current counts as the reference of lines
	@tests/cost/lines.sh accept

# A separate build; tests/coverage/coverage.sh defines what counts. Children of tests end by an _exit that writes their counts.
BRANCHES = $(BUILD)/branches
BRANCHES_FLOOR ?= 93
.PHONY: coverage coverage-list
BRANCHES_BUILD = $(MAKE) --no-print-directory BUILD=$(BRANCHES) CC=gcc SITE_OPTIMIZE= SANITIZE=--coverage CFLAGS= \
	OPTIMIZE="-O0 -DNDEBUG -Dalways_inline=noinline -fprofile-update=atomic"
BRANCHES_EXIT = $(BRANCHES)/tests/coverage/exit.o
coverage: ## run the tests and count the branches of the library that they take; fail below BRANCHES_FLOOR=93 per cent
	+$(BRANCHES_BUILD) $(BRANCHES_EXIT)
	+$(BRANCHES_BUILD) LDFLAGS="-Wl,--wrap=_exit $(BRANCHES_EXIT)" all tests
	find $(BRANCHES) -name '*.gcda' -delete
	SANITIZE=--coverage tests/run.sh $(BRANCHES)
	tests/conformance/conformance_test.sh $(BRANCHES)/conformance
	@tests/coverage/coverage.sh $(BRANCHES) $(BRANCHES_FLOOR)

coverage-list: ## list the lines with branches that the last `make coverage` did not take
	@tests/coverage/coverage.sh $(BRANCHES) list

# Two builds: the tests with the library as objects without debugging information, so that one object compiles and links quickly; and
# the library instrumented to report which places are reached (tests/mutants/reached.c).
MUTATION = $(BUILD)/mutation
MUTATION_VISIBLE = -fvisibility=default -fno-semantic-interposition
MUTATION_FLAGS = OPTIMIZE=-O1 CFLAGS="$(MUTATION_VISIBLE)" SANITIZE= LDFLAGS=-Wl,-Bsymbolic
REACHED_FLAGS = OPTIMIZE="-O0 -g -fdebug-prefix-map=$(CURDIR)=." CFLAGS="$(MUTATION_VISIBLE) -fsanitize-coverage=trace-pc" SANITIZE= \
	LDFLAGS="-Wl,-Bsymbolic $(MUTATION)/tests/mutants/reached.o -ldl"
.PHONY: mutants
mutants: ## change the library at MUTANTS=500 places, one at a time, and count what the quick tests notice; an hour; can be resumed
	+$(MAKE) --no-print-directory BUILD=$(MUTATION) TEST_LIBRARY=$(MUTATION)/libpetal-tests.so $(MUTATION_FLAGS) mutation-tests $(MUTATION)/tests/mutants/reached.o
	+$(MAKE) --no-print-directory BUILD=$(MUTATION)/reached $(REACHED_FLAGS) $(MUTATION)/reached/libpetal-tests.so
	MUTANT_COMPILE="$(CC) $(CPPFLAGS) -I$(CURDIR) $(CSTD) -w -O1 -fPIC $(MUTATION_VISIBLE) -pthread" \
	MUTANT_LINK="$(CC) -shared $(TESTS_SONAME_FLAG) -Wl,-Bsymbolic -pthread" MUTANT_LIBS="$(LIB_LIBS)" tests/mutants/mutants.sh $(MUTATION) $(MUTANT_FILES)

mutation-tests: $(filter-out $(BUILD)/tests/tools/%,$(TESTS))

# ---- testing -----------------------------------------------------------------------------------

.PHONY: test test-long bare fresh check format-check format lint lint-gcc lint-clang lint-release layers named names header sanitize-address sanitize-thread fuzz-smoke
test: ## build and run the tests
	+@$(MAKE) --no-print-directory $(ALL_PROCESSORS) all tests
	SANITIZE="$(SANITIZE)" CC="$(CC)" tests/run.sh $(BUILD)

LONG_TESTS = $(patsubst %,$(BUILD)/tests/%_test,model/random model/crash model/exhaustive crash/sequence crash/failure_sites damage/bits \
	damage/places damage/logs damage/lies threads/linearizable bloom/probes sstable/probes)
test-long: $(LONG_TESTS) $(BUILD)/memory $(BUILD)/kernel-cuts ## run the generating tests at length: hours; tests/README.md lists them
	for test in $(LONG_TESTS); do PETAL_LONG=1 $$test || exit 1; done
	+@$(MAKE) --no-print-directory schedules SCHEDULE_SECONDS=1800
	PETAL_LONG=1 $(BUILD)/kernel-cuts
	PETAL_LONG=1 tests/memory/memory_test.sh $(BUILD)/memory

.PHONY: go
go: $(BUILD)/libpetal.a ## vet the Go module (tools/go), run its tests, examples and README program; needs Go 1.19
	tests/go/go_test.sh $(BUILD)/kv-shell

.PHONY: soak
soak: $(BUILD)/soak ## kill processes at work, check their acknowledged writes, memory and disk; SOAK_SECONDS=1800
	$(BUILD)/soak

.PHONY: bites bites-apply
bites-apply: ## check that every patch of tests/bites still applies; a second
	@tests/bites/run.sh check

bites: ## check that the generic tests find each defect of tests/bites when its fix is reverted; by hand, an hour; BITES="two names"
	tests/bites/run.sh $(BUILD) $(BITES:%=tests/bites/%.patch)

.PHONY: interop
interop: $(BUILD)/interop/petal ## compare the same tables in Petal and in a real HBase, fetched by Maven; needs Java; INTEROP_CASES=60
	tests/interop/interop.sh $(BUILD)

.PHONY: kernel-cuts
kernel-cuts: $(BUILD)/kernel-cuts ## cut the power on ext4, XFS and btrfs of this kernel, as root; PETAL_CUTS=4 on each image; PETAL_LONG=1: many
	$(BUILD)/kernel-cuts

# Headers that fail to compile come before the system's, so neither the Makefile nor a source file finds those.
bare: ## build and test with every optional package hidden
	@for header in $(OPTIONAL_HEADERS); do mkdir -p "$$(dirname $(BUILD)/bare/hidden/$$header)" && \
	  echo '#error "out of sight"' >$(BUILD)/bare/hidden/$$header; done
	+CPPFLAGS="-I$(BUILD)/bare/hidden" $(MAKE) --no-print-directory BUILD=$(BUILD)/bare OPTIMIZE=-O0 CFLAGS=-Werror all tests
	tests/package/bare.sh $(BUILD)/bare/kv-bench

FRESH = demo test
fresh: ## run README's two commands on a minimal Debian and a clean clone; FRESH="demo test gcc+demo"; needs root, debootstrap
	@tests/package/fresh.sh $(FRESH)

check: format-check layers named names abi header lines bites-apply lint bare test packages schedules cost-check paths sanitize-address sanitize-thread fuzz-smoke ## run all checks: format, lint, layers, no optional package, tests, packages, counted instructions and paths, sanitizers, fuzzers

format-check: ## check that all C files are formatted by clang-format
	@clang-format --dry-run -Werror $(C_FILES)

format: ## format all C files
	clang-format -i $(C_FILES)

layers: all ## check includes and calls between rooms against tools/rooms.txt, and print the rooms
	@tools/check_layers.sh $(BUILD)

named: ## check that all files named in comments and documents exist
	tools/check_paths.sh

names: $(BUILD)/libpetal.so $(BUILD)/libpetal.a $(BLOOM_LIBRARIES) $(HFILE_LIBRARIES) ## check that the libraries export only petal_ names, each with its version
	tools/check_names.sh $(BUILD)

.PHONY: abi abi-accept abi-release
ABI = +@CC="$(CC)" tools/package/abi/abi.sh $(BUILD)
abi: $(BUILD)/libpetal.so $(BLOOM_LIBRARIES) $(HFILE_LIBRARIES) ## compare the binary interface with tools/package/abi; explain each change and the version number that it requires
	$(ABI) compare

abi-accept: $(BUILD)/libpetal.so $(BLOOM_LIBRARIES) $(HFILE_LIBRARIES) ## accept the current interface
	$(ABI) accept

abi-release: $(BUILD)/libpetal.so $(BLOOM_LIBRARIES) $(HFILE_LIBRARIES) ## accept it as that of a released version
	$(ABI) release

header: ## check that the public headers compile alone, as C11 and as C++17
	$(CC) -std=c11 $(WARNINGS) -Werror -fsyntax-only -x c engine/petal.h
	$(CXX) -std=c++17 -Wall -Wextra -Werror -fsyntax-only -x c++ engine/petal.h
	for header in bloom/petal_bloom.h tools/hfile/petal_hfile.h; do \
	  $(CC) -std=c11 $(WARNINGS) -Werror -Iengine -fsyntax-only -x c $$header && \
	  $(CXX) -std=c++17 -Wall -Wextra -Werror -Iengine -fsyntax-only -x c++ $$header || exit 1; done

lint: lint-gcc lint-clang lint-release ## compile without warnings, with gcc and with clang, with assertions and without

lint-gcc:
	+$(MAKE) --no-print-directory BUILD=$(BUILD)/lint-gcc CC=gcc CFLAGS=-Werror all tests

# Clang's warnings do not depend on optimization.
lint-clang:
	+$(MAKE) --no-print-directory BUILD=$(BUILD)/lint-clang CC=clang OPTIMIZE=-O0 CFLAGS=-Werror all tests

lint-release:
	+$(MAKE) --no-print-directory BUILD=$(BUILD)/release RELEASE=1 CFLAGS=-Werror all

sanitize-address: ## run the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	+$(MAKE) --no-print-directory BUILD=$(BUILD)/asan OPTIMIZE="-O1 -g" SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer" test

sanitize-thread: ## run the thread tests under ThreadSanitizer
	+$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan CC=clang OPTIMIZE="-O1 -g" SANITIZE="-fsanitize=thread" CFLAGS=-Werror all tests
	tests/run.sh $(BUILD)/tsan threads

# The compiler instruments atomic operations with calls, which the scheduler implements. Clang instruments only these, gcc all accesses.
.PHONY: schedules
SCHEDULE_SECONDS ?= 20
SCHEDULE_FLAGS = -fsanitize=thread $(if $(findstring clang,$(shell $(CC) --version 2>/dev/null)),\
  $(foreach flag,memory-accesses func-entry-exit memintrinsics,-mllvm -tsan-instrument-$(flag)=0),--param tsan-instrument-func-entry-exit=0 -include tests/schedule/gcc.h)
schedules: ## run the hand-overs between threads under many orders and stale loads, repeatable by seed; SCHEDULE_SECONDS=20, of processor time
	+@$(MAKE) --no-print-directory BUILD=$(BUILD)/schedule OPTIMIZE="-O1 -g" SANITIZE="$(SCHEDULE_FLAGS)" $(BUILD)/schedule/schedules
	SCHEDULE_SECONDS=$(SCHEDULE_SECONDS) $(BUILD)/schedule/schedules

.PHONY: machines
machines: ## test formats, filters, model and threads on s390x and arm64 under qemu, with both signs of char, without wide instructions and with wider ones; SYSROOT_S390X, SYSROOT_ARM64
	+@tests/package/machines.sh $(BUILD)

# A fuzz target is linked with libFuzzer, and with all others into fuzz-replay, which runs the kept inputs with any compiler.
FUZZ_TARGETS = $(patsubst tests/fuzz/%.c,%,$(filter $(TEST_SOURCES),$(wildcard tests/fuzz/*.c)))
FUZZERS = $(FUZZ_TARGETS:%=$(BUILD)/fuzz_%)
FUZZ_SECONDS ?= 3

# Parts of the shell that fuzzers feed, and files in memory; rebuilt when this list changes.
$(BUILD)/fuzz-parts.a: $(patsubst %,$(BUILD)/%.o,$(addprefix tools/shell/,ruby/source session/value text/text text/json text/memory \
	files/cell files/fields files/cell_table files/cell_json files/cell_hbase files/record) \
	$(addprefix tests/,support/test_support disk/file disk/tree disk/vfs disk/control)) Makefile
	$(call say,rm -f $@ && $(AR) rcs $@ $(filter %.o,$^),AR)

# The library of HBase's files, if it is built, and the drivers of its tests.
ifeq ($(HAVE_HFILE),yes)
HFILE_FUZZ_PARTS = $(BUILD)/fuzz-hfile-parts.a
$(HFILE_FUZZ_PARTS): $(HFILE_OBJECTS) $(patsubst %,$(BUILD)/tests/hfile/%.o,drive golden sha256)
	$(call say,rm -f $@ && $(AR) rcs $@ $^,AR)
endif

$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/%.o $(HFILE_FUZZ_PARTS) $(BUILD)/fuzz-parts.a $(BUILD)/libpetal-internal.a
	$(call say,$(CC) -o $@ $^ $(LDFLAGS_ALL) -fsanitize=fuzzer $(LIB_LIBS) $(HFILE_LIBS),LINK)

$(BUILD)/tests/fuzz/replay/%.o: $(BUILD)/tests/fuzz/%.o
	@mkdir -p $(@D)
	$(call say,objcopy --redefine-sym LLVMFuzzerTestOneInput=fuzz_$* $< $@,NAME)

$(BUILD)/tests/fuzz/replay/main.o: tests/fuzz/replay/main.c $(wildcard tests/fuzz/*.c)
	@mkdir -p $(@D)
	$(call say,$(CC) $(CPPFLAGS) -DFUZZ_TARGETS='$(patsubst %,TARGET(%),$(FUZZ_TARGETS))' $(CFLAGS_ALL) -MMD -MP -c $< -o $@,CC)

$(BUILD)/fuzz-replay: $(BUILD)/tests/fuzz/replay/main.o $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz/replay/%.o) $(HFILE_FUZZ_PARTS) \
		$(BUILD)/fuzz-parts.a $(BUILD)/libpetal-internal.a
	$(call say,$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIB_LIBS) $(HFILE_LIBS),LINK)

tests: $(BUILD)/fuzz-replay

.PHONY: fuzzers fuzz fuzz-coverage
fuzzers: $(FUZZERS)

FUZZ_BUILD = BUILD=$(BUILD)/fuzz CC=clang OPTIMIZE="-O1 -g" \
	SANITIZE="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined"
fuzz-smoke: ## run every fuzzer for a few seconds; FUZZ_SECONDS=3
	+@$(MAKE) --no-print-directory $(FUZZ_BUILD) fuzzers
	@tests/fuzz/fuzz.sh $(BUILD)/fuzz $(FUZZ_SECONDS) smoke

fuzz: ## run fuzzers at length, FUZZER="sst wal" or all, FUZZ_SECONDS=3 each; keep useful inputs in tests/fuzz/corpora
	+@$(MAKE) --no-print-directory $(FUZZ_BUILD) fuzzers
	@tests/fuzz/fuzz.sh $(BUILD)/fuzz $(FUZZ_SECONDS) keep $(FUZZER)

# The parsers that fuzzers feed.
FUZZ_PARSERS = $(addprefix sstable/block/,block_io.c data_block.c data_block_pack.c packed_numbers.c index_block.c) \
	$(addprefix sstable/filter/,bloom_reader.c bloom_rows.c) sstable/index/index_tree.c $(addprefix sstable/file/,facts.c sst_file.c trailer.c) \
	$(addprefix sstable/,sst_iter.c sst_point.c sst_reader.c) bloom/bloom.c bloom/ribbon.c base/cell.c \
	bloom/file/set_file.c bloom/bitmap/bitmap.c bloom/distinct/distinct.c $(addprefix bloom/filter/,array.c filter.c growing.c parts.c) \
	$(addprefix engine/manifest/,apply.c apply_schema.c item.c manifest.c names.c undo.c) $(addprefix engine/wal/,fragment.c reader.c record.c replay.c) \
	$(filter tools/hfile/format/% tools/hfile/reader/%,$(HFILE_SOURCES)) \
	$(addprefix engine/filter/,java_property.c java_regex.c make.c parser.c regex.c utf8.c) $(addprefix tools/shell/,files/cell.c files/cell_hbase.c files/cell_json.c \
	files/cell_table.c files/fields.c files/record.c ruby/source.c session/value.c)
LLVM = $(shell clang --version | sed -n 's/.*version \([0-9]*\).*/-\1/p')
fuzz-coverage: ## show which lines of the parsers the fuzzers' kept inputs reach; needs llvm
	+@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz-coverage CC=clang OPTIMIZE="-O1 -g" SANITIZE="-fprofile-instr-generate -fcoverage-mapping" \
	  $(BUILD)/fuzz-coverage/fuzz-replay
	@LLVM_PROFILE_FILE=$(BUILD)/fuzz-coverage/raw tests/fuzz/kept_test.sh $(BUILD)/fuzz-coverage/fuzz-replay
	@llvm-profdata$(LLVM) merge -sparse $(BUILD)/fuzz-coverage/raw -o $(BUILD)/fuzz-coverage/data
	@llvm-cov$(LLVM) report $(BUILD)/fuzz-coverage/fuzz-replay -instr-profile=$(BUILD)/fuzz-coverage/data $(FUZZ_PARSERS) | \
	  awk 'NF == 13 && $$8 ~ /^[0-9]+$$/ { printf "%-36s %5d lines %5d missed %7s\n", $$1, $$8, $$9, $$10 }'

.PHONY: clean help
clean: ## remove the build
	rm -rf $(BUILD)

help: ## print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | awk -F'\t' '{ line = sprintf("  %-17s", $$1); \
	  count = split($$2, words, " "); for (i = 1; i <= count; i++) { \
	    if (length(line) + length(words[i]) >= 80) { print line; line = sprintf("%19s", "") } \
	    line = line " " words[i] } print line }'

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

.SECONDARY:
