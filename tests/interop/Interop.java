import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.errorhandling.ForeignExceptionDispatcher;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.RegionScanner;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.shaded.protobuf.generated.SnapshotProtos.SnapshotDescription;
import org.apache.hadoop.hbase.snapshot.SnapshotDescriptionUtils;
import org.apache.hadoop.hbase.snapshot.SnapshotManifest;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.FSTableDescriptors;
import org.apache.hadoop.hbase.util.Pair;

/**
 * HBase's side of `make interop`: the same questions are asked of a region of HBase and of Petal,
 * and the answers are compared as files.
 *
 * <pre>
 * Interop load CASE..        bulk-loads CASE/hfiles into a region, with every check that HBase has, and
 *                            answers CASE/questions into CASE/hbase.answers; then compacts all files
 *                            into one, answers again into CASE/hbase.compacted, and copies what the
 *                            compaction wrote to CASE/compacted.
 * Interop write SEED CASE..  fills a region with random writes, flushes and compacts now and then, copies
 *                            its store files to CASE/hfiles, and a snapshot to CASE/snapshot, makes up
 *                            questions and answers them.
 * Interop live SEED CASE..   the same with a table of a whole HBase, whose regions split and merge (Live.java).
 * Interop record DIRECTORY   the small tables of a whole HBase that tests/hfile/exchange/golden/hbase keeps.
 * Interop speed FILE         how many megabytes of the file's cells HBase reads, and writes to a file of
 *                            the same kind, in a second of a processor, when it has warmed up.
 * </pre>
 *
 * A case is a directory. CASE/table has a line for each family: name, versions, BLOOMFILTER,
 * KEEP_DELETED_CELLS, COMPRESSION, DATA_BLOCK_ENCODING. Fields stand between tabs; bytes outside 0x21..0x7e,
 * and the backslash, are \xHH.
 */
public final class Interop {
  private final Configuration conf = HBaseConfiguration.create();
  private final FileSystem files;
  private final Path scratch;
  private int failures;

  private Interop() throws IOException {
    conf.setBoolean("hbase.hstore.bulkload.verify", true);
    conf.setBoolean("hbase.unsafe.stream.capability.enforce", false);
    conf.set("fs.defaultFS", "file:///");
    scratch = Files.createTempDirectory("petal-interop");
    conf.set("hbase.rootdir", scratch.toUri().toString());
    files = FileSystem.getLocal(conf).getRawFileSystem();
  }

  public static void main(String[] arguments) throws Exception {
    Interop interop = new Interop();
    try {
      if (arguments.length > 1 && arguments[0].equals("load")) {
        for (String name : Arrays.copyOfRange(arguments, 1, arguments.length)) {
          interop.load(new File(name).toPath());
        }
      } else if (arguments.length > 2 && arguments[0].equals("write")) {
        long seed = Long.parseLong(arguments[1]);
        for (String name : Arrays.copyOfRange(arguments, 2, arguments.length)) {
          interop.write(new File(name).toPath(), seed++);
        }
      } else if (arguments.length > 2 && arguments[0].equals("live")) {
        long seed = Long.parseLong(arguments[1]);
        try (Live live = new Live(interop.scratch, 10000)) {
          for (String name : Arrays.copyOfRange(arguments, 2, arguments.length)) {
            live.random(new File(name).toPath(), seed++);
          }
        }
      } else if (arguments.length == 2 && arguments[0].equals("record")) {
        try (Live live = new Live(interop.scratch, 30000)) {
          live.record(new File(arguments[1]).toPath());
        }
      } else if (arguments.length == 2 && arguments[0].equals("speed")) {
        interop.measure(new File(arguments[1]).toPath());
      } else {
        System.err.println("usage: Interop load CASE.. | write SEED CASE.. | live SEED CASE.. | record DIRECTORY | speed FILE");
        System.exit(2);
      }
    } finally {
      deleteAll(interop.scratch);
    }
    System.exit(interop.failures == 0 ? 0 : 1);
  }

  // ---- The two works -------------------------------------------------------------------------

  private void load(Path directory) throws Exception {
    HFile.getAndResetChecksumFailuresCount();
    HRegion region = newRegion(readTable(directory));
    try {
      List<Pair<byte[], String>> loaded = new ArrayList<>();
      describe(region.getTableDescriptor(), directory);
      for (ColumnFamilyDescriptor family : region.getTableDescriptor().getColumnFamilies()) {
        // A bulk load moves the files that it is given.
        Path copies = Files.createDirectories(scratch.resolve("load").resolve(directory.getFileName())
          .resolve(family.getNameAsString()));
        for (Path file : list(directory.resolve("hfiles").resolve(family.getNameAsString()))) {
          Path copy = copies.resolve(file.getFileName());
          Files.copy(file, copy);
          loaded.add(new Pair<>(family.getName(), copy.toUri().toString()));
        }
      }
      if (region.bulkLoadHFiles(loaded, true, null) == null) {
        throw new IOException("HBase has taken none of the files");
      }
      answer(storeOf(region), directory, "hbase.answers");
      long asked = 0;
      long skipped = 0;
      for (HStore store : region.getStores()) {
        asked += store.getBloomFilterRequestsCount();
        skipped += store.getBloomFilterNegativeResultsCount();
      }
      long failed = HFile.getAndResetChecksumFailuresCount();
      failures += failed > 0 ? 1 : 0;
      System.out.printf("%s: %d files loaded, %d checksums failed, %d Bloom filters asked, %d said no%n",
        directory.getFileName(), loaded.size(), failed, asked, skipped);
      region.compact(true);
      answer(storeOf(region), directory, "hbase.compacted");
      copyStoreFiles(region, directory.resolve("compacted"));
    } finally {
      HBaseTestingUtility.closeRegionAndWAL(region);
    }
  }

  private void write(Path directory, long seed) throws Exception {
    Random random = new Random(seed);
    Files.createDirectories(directory);
    Pool pool = new Pool(random, 200);
    TableDescriptor table = randomTable(random, seed);
    writeTable(table, directory);
    HRegion region = newRegion(table);
    try {
      int operations = 200 + random.nextInt(1500);
      for (int i = 0; i < operations; i++) {
        Mutation change = pool.change();
        if (change instanceof Put) {
          region.put((Put) change);
        } else {
          region.delete((Delete) change);
        }
        if (random.nextInt(250) == 0) {
          region.flush(true);
        } else if (random.nextInt(1000) == 0) {
          region.compact(random.nextBoolean());
        }
      }
      region.flush(true);
      try (BufferedWriter questions = Files.newBufferedWriter(directory.resolve("questions"))) {
        pool.ask(questions, table);
      }
      answer(storeOf(region), directory, "hbase.answers");
      int copied = copyStoreFiles(region, directory.resolve("hfiles"));
      takeSnapshot(region, directory.resolve("snapshot"));
      describe(table, directory);
      System.out.printf("%s: %d writes, %d store files, seed %d%n", directory.getFileName(), operations, copied, seed);
    } finally {
      HBaseTestingUtility.closeRegionAndWAL(region);
    }
  }

  // ---- Speed ---------------------------------------------------------------------------------

  private static final int WARM_UP_ROUNDS = 6;
  private static final int MEASURED_ROUNDS = 5;

  private void measure(Path file) throws IOException {
    List<Double> reading = new ArrayList<>();
    List<Double> writing = new ArrayList<>();
    CacheConfig noCache = CacheConfig.DISABLED;
    for (int round = 0; round < WARM_UP_ROUNDS + MEASURED_ROUNDS; round++) {
      long begin = cpuNanoseconds();
      List<Cell> cells = new ArrayList<>();
      long bytes = 0;
      try (HFile.Reader reader =
        HFile.createReader(files, new org.apache.hadoop.fs.Path(file.toUri()), noCache, true, conf)) {
        HFileScanner scanner = reader.getScanner(conf, false, false);
        for (boolean more = scanner.seekTo(); more; more = scanner.next()) {
          Cell cell = scanner.getCell();
          bytes += cell.getRowLength() + cell.getFamilyLength() + cell.getQualifierLength() + cell.getValueLength() + 12;
          cells.add(cell);
        }
      }
      long read = cpuNanoseconds();
      org.apache.hadoop.fs.Path written = new org.apache.hadoop.fs.Path(scratch.resolve("written").toUri());
      StoreFileWriter writer = new StoreFileWriter.Builder(conf, noCache, files).withFilePath(written)
        .withBloomType(BloomType.ROW).withMaxKeyCount(cells.size()).withFileContext(new HFileContextBuilder()
          .withCompression(Compression.Algorithm.LZ4).withBytesPerCheckSum(16384).build()).build();
      long beginWriting = cpuNanoseconds();
      for (Cell cell : cells) {
        writer.append(cell);
      }
      writer.appendMetadata(1, false);
      writer.close();
      long end = cpuNanoseconds();
      files.delete(written, false);
      if (round >= WARM_UP_ROUNDS) {
        reading.add(bytes * 1e3 / (read - begin));
        writing.add(bytes * 1e3 / (end - beginWriting));
      }
    }
    reading.sort(null);
    writing.sort(null);
    System.out.printf("HBase: reads %.0f MB/s (%.0f to %.0f), writes %.0f MB/s (%.0f to %.0f)%n",
      reading.get(MEASURED_ROUNDS / 2), reading.get(0), reading.get(MEASURED_ROUNDS - 1),
      writing.get(MEASURED_ROUNDS / 2), writing.get(0), writing.get(MEASURED_ROUNDS - 1));
  }

  private static long cpuNanoseconds() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
      .getProcessCpuTime();
  }

  // ---- Questions -----------------------------------------------------------------------------

  /** What questions are asked of. */
  interface Store {
    Cell[] get(Get get) throws IOException;

    void scan(BufferedWriter out, Scan scan) throws IOException;
  }

  private static Store storeOf(HRegion region) {
    return new Store() {
      @Override
      public Cell[] get(Get get) throws IOException {
        return region.get(get).rawCells();
      }

      @Override
      public void scan(BufferedWriter out, Scan scan) throws IOException {
        List<Cell> cells = new ArrayList<>();
        try (RegionScanner scanner = region.getScanner(scan)) {
          boolean more;
          do {
            cells.clear();
            more = scanner.next(cells);
            print(out, cells.toArray(new Cell[0]));
          } while (more);
        }
      }
    };
  }

  static void answer(Store store, Path directory, String name) throws IOException {
    try (BufferedWriter out = Files.newBufferedWriter(directory.resolve(name))) {
      for (String line : Files.readAllLines(directory.resolve("questions"))) {
        String[] words = line.split("\t", -1);
        out.write("? " + line + "\n");
        switch (words[0]) {
          case "row":
            print(out, store.get(new Get(unescape(words[1]))));
            break;
          case "versions":
            print(out, store.get(new Get(unescape(words[1])).readAllVersions()));
            break;
          case "column":
            print(out, store.get(
              new Get(unescape(words[1])).addColumn(unescape(words[2]), unescape(words[3]))));
            break;
          case "time":
            print(out, store.get(new Get(unescape(words[1])).readAllVersions()
              .setTimeRange(Long.parseLong(words[2]), Long.parseLong(words[3]))));
            break;
          case "scan":
            store.scan(out, new Scan());
            break;
          case "reverse":
            store.scan(out, new Scan().setReversed(true));
            break;
          case "raw":
            store.scan(out, new Scan().setRaw(true).readAllVersions());
            break;
          default:
            throw new IOException(directory + ": unknown question: " + line);
        }
      }
    }
  }

  static void print(BufferedWriter out, Cell[] cells) throws IOException {
    for (Cell cell : cells) {
      out.write(escape(CellUtil.cloneRow(cell)) + "\t" + escape(CellUtil.cloneFamily(cell)) + "\t"
        + escape(CellUtil.cloneQualifier(cell)) + "\t" + cell.getTimestamp() + "\t" + cell.getType() + "\t"
        + escape(CellUtil.cloneValue(cell)) + "\n");
    }
  }

  // ---- Random writes -------------------------------------------------------------------------

  static TableDescriptor randomTable(Random random, long seed) {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(TableName.valueOf("t" + seed));
    Compression.Algorithm[] codecs = {Compression.Algorithm.NONE, Compression.Algorithm.GZ,
      Compression.Algorithm.LZ4, Compression.Algorithm.SNAPPY};
    DataBlockEncoding[] encodings = {DataBlockEncoding.NONE, DataBlockEncoding.PREFIX, DataBlockEncoding.DIFF,
      DataBlockEncoding.FAST_DIFF, DataBlockEncoding.ROW_INDEX_V1};
    BloomType[] blooms = {BloomType.NONE, BloomType.ROW, BloomType.ROWCOL};
    for (String name : new String[] {"a", "bc"}) {
      table.setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(name))
        .setMaxVersions(1 + random.nextInt(4)).setBloomFilterType(blooms[random.nextInt(3)])
        .setCompressionType(codecs[random.nextInt(4)]).setDataBlockEncoding(encodings[random.nextInt(5)])
        .setKeepDeletedCells(random.nextInt(4) == 0 ? KeepDeletedCells.TRUE : KeepDeletedCells.FALSE)
        .setBlocksize(1024 << random.nextInt(7)).build());
    }
    return table.build();
  }

  /**
   * The few rows, columns and times that random writes are about, so that they meet. Of a column that is
   * asked for, HBase passes over markers of families where the empty qualifier has a later put: so a table
   * has the one or the others.
   */
  static final class Pool {
    private static final byte[][] FAMILIES = {Bytes.toBytes("a"), Bytes.toBytes("bc")};
    private final Random random;
    private final boolean hasFamilyMarkers;
    private final List<byte[]> rows = new ArrayList<>();
    private final List<byte[]> qualifiers = new ArrayList<>();

    Pool(Random random, int mostRows) {
      this.random = random;
      hasFamilyMarkers = random.nextBoolean();
      int rowCount = 20 + random.nextInt(mostRows);
      for (int i = 0; i < rowCount; i++) {
        rows.add(bytes(1 + random.nextInt(20)));
      }
      qualifiers.add(hasFamilyMarkers ? bytes(3) : new byte[0]);
      int qualifierCount = 2 + random.nextInt(12);
      for (int i = 0; i < qualifierCount; i++) {
        qualifiers.add(bytes(1 + random.nextInt(10)));
      }
    }

    private byte[] bytes(int size) {
      byte[] bytes = new byte[size];
      for (int i = 0; i < size; i++) {
        bytes[i] = (byte) (random.nextInt(4) == 0 ? random.nextInt(256) : 'a' + random.nextInt(3));
      }
      return bytes;
    }

    private byte[] any(List<byte[]> of) {
      return of.get(random.nextInt(of.size()));
    }

    private long time() {
      return 1 + random.nextInt(30);
    }

    byte[] row() {
      return any(rows);
    }

    /** A Put or a Delete. */
    Mutation change() {
      byte[] row = any(rows);
      byte[] family = FAMILIES[random.nextInt(2)];
      byte[] qualifier = any(qualifiers);
      int kind = random.nextInt(hasFamilyMarkers ? 20 : 18);
      if (kind < 15) {
        Put put = new Put(row).setDurability(Durability.SKIP_WAL);
        int columns = random.nextInt(30) == 0 ? 40 : 1;
        for (int i = 0; i < columns; i++) {
          int size = random.nextInt(200) == 0 ? 5000 : random.nextInt(20);
          put.addColumn(family, columns == 1 ? qualifier : Bytes.toBytes("w" + i), time(), bytes(size));
        }
        return put;
      }
      if (kind < 17) {
        return new Delete(row).setDurability(Durability.SKIP_WAL).addColumn(family, qualifier, time());
      }
      if (kind < 18) {
        return new Delete(row).setDurability(Durability.SKIP_WAL).addColumns(family, qualifier, time());
      }
      if (kind < 19) {
        return new Delete(row).setDurability(Durability.SKIP_WAL).addFamilyVersion(family, time());
      }
      return new Delete(row).setDurability(Durability.SKIP_WAL).addFamily(family, time());
    }

    void ask(BufferedWriter out, TableDescriptor table) throws IOException {
      out.write("scan\nreverse\nraw\n");
      List<byte[]> asked = new ArrayList<>(rows);
      for (int i = 0; i < 20; i++) {
        asked.add(bytes(1 + random.nextInt(20)));
      }
      for (byte[] row : asked) {
        out.write("row\t" + escape(row) + "\nversions\t" + escape(row) + "\n");
        long from = time();
        out.write("time\t" + escape(row) + "\t" + from + "\t" + (from + 1 + random.nextInt(20)) + "\n");
        for (ColumnFamilyDescriptor family : table.getColumnFamilies()) {
          for (byte[] qualifier : qualifiers) {
            out.write("column\t" + escape(row) + "\t" + escape(family.getName()) + "\t" + escape(qualifier) + "\n");
          }
        }
      }
    }
  }

  static void change(Table table, Mutation change) throws IOException {
    if (change instanceof Put) {
      table.put((Put) change);
    } else {
      table.delete((Delete) change);
    }
  }

  // ---- Regions and files ---------------------------------------------------------------------

  private HRegion newRegion(TableDescriptor table) throws IOException {
    RegionInfo region = RegionInfoBuilder.newBuilder(table.getTableName()).build();
    return HBaseTestingUtility.createRegionAndWAL(region, new org.apache.hadoop.fs.Path(scratch.toUri()), conf, table);
  }

  private static int copyStoreFiles(HRegion region, Path to) throws IOException {
    int copied = 0;
    for (HStore store : region.getStores()) {
      Path folder = Files.createDirectories(to.resolve(store.getColumnFamilyName()));
      for (HStoreFile file : store.getStorefiles()) {
        Files.copy(new File(file.getPath().toUri().getPath()).toPath(), folder.resolve(file.getPath().getName()));
        copied++;
      }
    }
    return copied;
  }

  /** Puts a .tableinfo beside the case's files. */
  private void describe(TableDescriptor table, Path directory) throws IOException {
    org.apache.hadoop.fs.Path folder = new org.apache.hadoop.fs.Path(directory.resolve("hfiles").toUri());
    new FSTableDescriptors(files, new org.apache.hadoop.fs.Path(scratch.toUri()))
      .createTableDescriptorForTableDirectory(files, folder, table, true);
  }

  /** What ExportSnapshot leaves of a snapshot of the region: its manifest, and the files in archive/. */
  private void takeSnapshot(HRegion region, Path root) throws IOException {
    Path folder = Files.createDirectories(root.resolve(".hbase-snapshot/today"));
    org.apache.hadoop.fs.Path working = new org.apache.hadoop.fs.Path(folder.toUri());
    SnapshotDescription snapshot = SnapshotDescription.newBuilder().setName("today")
      .setTable(region.getTableDescriptor().getTableName().getNameAsString()).setVersion(2).build();
    SnapshotDescriptionUtils.writeSnapshotInfo(snapshot, working, files);
    SnapshotManifest manifest =
      SnapshotManifest.create(conf, files, working, snapshot, new ForeignExceptionDispatcher());
    manifest.addTableDescriptor(region.getTableDescriptor());
    manifest.addRegion(region);
    manifest.consolidate();
    copyStoreFiles(region, root.resolve("archive/data/default")
      .resolve(region.getTableDescriptor().getTableName().getNameAsString())
      .resolve(region.getRegionInfo().getEncodedName()));
  }

  private static TableDescriptor readTable(Path directory) throws IOException {
    TableDescriptorBuilder table =
      TableDescriptorBuilder.newBuilder(TableName.valueOf(directory.getFileName().toString()));
    for (String line : Files.readAllLines(directory.resolve("table"))) {
      String[] words = line.split("\t", -1);
      table.setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(unescape(words[0]))
        .setMaxVersions(Integer.parseInt(words[1])).setBloomFilterType(BloomType.valueOf(words[2]))
        .setKeepDeletedCells(KeepDeletedCells.valueOf(words[3]))
        .setCompressionType(Compression.Algorithm.valueOf(words[4]))
        .setDataBlockEncoding(DataBlockEncoding.valueOf(words[5])).build());
    }
    return table.build();
  }

  private static void writeTable(TableDescriptor table, Path directory) throws IOException {
    try (BufferedWriter out = Files.newBufferedWriter(directory.resolve("table"))) {
      for (ColumnFamilyDescriptor family : table.getColumnFamilies()) {
        out.write(escape(family.getName()) + "\t" + family.getMaxVersions() + "\t" + family.getBloomFilterType() + "\t"
          + family.getKeepDeletedCells() + "\t" + family.getCompressionType() + "\t" + family.getDataBlockEncoding()
          + "\n");
      }
    }
  }

  static List<Path> list(Path folder) throws IOException {
    List<Path> found = new ArrayList<>();
    if (Files.isDirectory(folder)) {
      try (var entries = Files.list(folder)) {
        entries.sorted().forEach(found::add);
      }
    }
    return found;
  }

  private static void deleteAll(Path folder) throws IOException {
    try (var entries = Files.walk(folder)) {
      entries.sorted(java.util.Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
    }
  }

  // ---- Bytes as text -------------------------------------------------------------------------

  private static String escape(byte[] bytes) {
    StringBuilder text = new StringBuilder(bytes.length);
    for (byte b : bytes) {
      if (b >= 0x21 && b <= 0x7e && b != '\\') {
        text.append((char) b);
      } else {
        text.append(String.format("\\x%02X", b & 0xff));
      }
    }
    return text.toString();
  }

  private static byte[] unescape(String text) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) == '\\') {
        bytes.write(Integer.parseInt(text.substring(i + 2, i + 4), 16));
        i += 3;
      } else {
        bytes.write(text.substring(i, i + 1).getBytes(StandardCharsets.ISO_8859_1)[0]);
      }
    }
    return bytes.toByteArray();
  }
}
