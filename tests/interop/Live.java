import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.LocalHBaseCluster;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;

/**
 * Tables of a whole HBase, master and region server in this process: they split, merge, compact, are
 * snapshot and cloned, and its janitor takes regions away only when it is told to. The root folder is
 * copied as it is then, links, references, old regions and all.
 */
final class Live implements AutoCloseable {
  private static final int STEP_MS = 100;
  private static final int MOST_STEPS = 600;

  private final Path root;
  private final MiniZooKeeperCluster zooKeeper;
  private final LocalHBaseCluster cluster;
  private final Connection connection;
  private final Admin admin;

  Live(Path scratch, int dischargerMs) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    root = scratch.resolve("root");
    conf.set("fs.defaultFS", "file:///");
    conf.set("hbase.rootdir", root.toUri().toString());
    conf.set("hbase.tmp.dir", scratch.resolve("tmp").toString());
    conf.setBoolean("hbase.unsafe.stream.capability.enforce", false);
    conf.set("hbase.wal.provider", "filesystem");
    for (String port : new String[] {"hbase.master.port", "hbase.regionserver.port"}) {
      conf.setInt(port, 0);
    }
    for (String port : new String[] {"hbase.master.info.port", "hbase.regionserver.info.port"}) {
      conf.setInt(port, -1);
    }
    conf.set("hbase.master.hostname", "localhost");
    conf.set("hbase.regionserver.hostname", "localhost");
    conf.setInt("hbase.catalogjanitor.interval", Integer.MAX_VALUE);
    conf.setInt("hbase.hfile.compaction.discharger.interval", dischargerMs);
    conf.setInt("hbase.client.retries.number", 5);
    zooKeeper = new MiniZooKeeperCluster(conf);
    conf.setInt("hbase.zookeeper.property.clientPort", zooKeeper.startup(scratch.resolve("zk").toFile()));
    conf.set("hbase.zookeeper.quorum", "localhost");
    cluster = new LocalHBaseCluster(conf, 1, 1);
    cluster.startup();
    await("HBase", () -> cluster.getActiveMaster() != null && cluster.getActiveMaster().isInitialized());
    connection = ConnectionFactory.createConnection(conf);
    admin = connection.getAdmin();
  }

  @Override
  public void close() throws Exception {
    admin.close();
    connection.close();
    cluster.shutdown();
    cluster.join();
    zooKeeper.shutdown();
  }

  private interface Condition {
    boolean holds() throws Exception;
  }

  private static boolean holdsInTime(Condition condition) throws Exception {
    for (int i = 0; i < MOST_STEPS; i++) {
      if (condition.holds()) {
        return true;
      }
      Thread.sleep(STEP_MS);
    }
    return false;
  }

  private static void await(String what, Condition condition) throws Exception {
    if (!holdsInTime(condition)) {
      throw new IOException(what + " takes too long");
    }
  }

  // ---- What is done to tables ----------------------------------------------------------------

  /** False: HBase does not want to, since a region has references still, or for another reason. */
  private boolean split(TableName table, byte[] row) throws Exception {
    for (RegionInfo region : admin.getRegions(table)) {
      if (region.containsRow(row) && !Bytes.equals(region.getStartKey(), row)) {
        try {
          admin.splitRegionAsync(region.getRegionName(), row).get();
          await("split", () -> isOnline(table));
          return true;
        } catch (Exception refused) {
          return false;
        }
      }
    }
    return false;
  }

  private boolean merge(TableName table, int at) throws Exception {
    List<RegionInfo> regions = admin.getRegions(table);
    if (regions.size() < 2) {
      return false;
    }
    int first = at % (regions.size() - 1);
    try {
      admin.mergeRegionsAsync(new byte[][] {regions.get(first).getEncodedNameAsBytes(),
        regions.get(first + 1).getEncodedNameAsBytes()}, false).get();
      await("merge", () -> isOnline(table));
      return true;
    } catch (Exception refused) {
      return false;
    }
  }

  private boolean isOnline(TableName table) throws IOException {
    return cluster.getActiveMaster().getAssignmentManager().getRegionsInTransition().isEmpty()
      && admin.isTableAvailable(table);
  }

  private void compact(TableName table) throws Exception {
    int[] quiet = {0};
    admin.majorCompact(table);
    /* It begins a moment later. */
    await("compaction", () -> (quiet[0] = admin.getCompactionState(table) == CompactionState.NONE
      ? quiet[0] + 1 : 0) > 3);
  }

  /** Regions that were split or merged go, except those whose files a region still refers to. */
  private boolean janitorSettles(TableName table) throws Exception {
    return holdsInTime(() -> {
      admin.runCatalogJanitor();
      Set<String> old = new HashSet<>();
      for (Path region : Interop.list(folder(table))) {
        if (region.getFileName().toString().matches("[0-9a-f]{32}")) {
          old.add(region.getFileName().toString());
        }
      }
      for (RegionInfo region : admin.getRegions(table)) {
        old.remove(region.getEncodedName());
      }
      try (var files = Files.walk(folder(table))) {
        files.forEach(file -> {
          String name = file.getFileName().toString();
          old.removeIf(region -> name.endsWith("." + region) || name.contains("=" + region + "-"));
        });
      } catch (java.io.UncheckedIOException gone) {
        return false;
      }
      return old.isEmpty();
    });
  }

  private Path folder(TableName table) {
    return root.resolve("data").resolve(table.getNamespaceAsString()).resolve(table.getQualifierAsString());
  }

  private final class OfTable implements Interop.Store {
    private final Table table;

    OfTable(Table table) {
      this.table = table;
    }

    @Override
    public Cell[] get(Get get) throws IOException {
      Result result = table.get(get);
      return result.isEmpty() ? new Cell[0] : result.rawCells();
    }

    @Override
    public void scan(BufferedWriter out, Scan scan) throws IOException {
      try (ResultScanner scanner = table.getScanner(scan)) {
        for (Result result : scanner) {
          Interop.print(out, result.rawCells());
        }
      }
    }
  }

  // ---- Random tables -------------------------------------------------------------------------

  /**
   * CASE/live: the root as it is when the snapshot was taken; CASE/settled: the table's folder, when the
   * janitor was there, with what it has links to. CASE/hbase.answers: those of HBase's clone.
   */
  void random(Path directory, long seed) throws Exception {
    Random random = new Random(seed);
    Files.createDirectories(directory);
    Interop.Pool pool = new Interop.Pool(random, 40);
    TableDescriptor first = Interop.randomTable(random, seed);
    List<TableName> tables = new ArrayList<>();
    TableName table = first.getTableName();
    int splits = 0;
    int merges = 0;
    int compactions = 0;
    tables.add(table);
    admin.createTable(first, new byte[][] {Bytes.toBytes("b")});
    for (int i = 0, operations = 300 + random.nextInt(500); i < operations; i++) {
      try (Table open = connection.getTable(table)) {
        Interop.change(open, pool.change());
      }
      switch (random.nextInt(150)) {
        case 0: case 1: case 2: case 3:
          admin.flush(table);
          break;
        case 4: case 5:
          splits += split(table, pool.row()) ? 1 : 0;
          break;
        case 6: case 7:
          merges += merge(table, random.nextInt(10)) ? 1 : 0;
          break;
        case 8: case 9:
          admin.flush(table);
          compact(table);
          compactions++;
          break;
        case 10:
          if (random.nextBoolean()) {
            janitorSettles(table);
          } else {
            TableName clone = TableName.valueOf(first.getTableName() + "c" + tables.size());
            admin.snapshot("s" + clone, table);
            admin.cloneSnapshot("s" + clone, clone);
            tables.add(clone);
            table = clone;
          }
          break;
        default:
          break;
      }
    }
    admin.flush(table);
    /* A clone compacts what it has references to, and a raw scan shows it. */
    admin.compactionSwitch(false, List.of());
    String snapshot = "today" + seed;
    TableName clone = TableName.valueOf("clone" + seed);
    admin.snapshot(snapshot, table);
    copy(root, directory.resolve("live"), tables, List.of(snapshot));
    admin.cloneSnapshot(snapshot, clone);
    try (BufferedWriter questions = Files.newBufferedWriter(directory.resolve("questions"))) {
      pool.ask(questions, first);
    }
    try (Table open = connection.getTable(clone)) {
      Interop.answer(new OfTable(open), directory, "hbase.answers");
    }
    boolean settles = janitorSettles(table);
    copy(root, directory.resolve("root"), tables, List.of());
    admin.compactionSwitch(true, List.of());
    Files.createSymbolicLink(directory.resolve("snapshot"), Path.of("live/.hbase-snapshot/" + snapshot));
    Files.createSymbolicLink(directory.resolve("settled"), Path.of("root").resolve(root.relativize(folder(table))));
    System.out.printf("%s: %d tables, %d splits, %d merges, %d compactions%s, seed %d%n", directory.getFileName(),
      tables.size(), splits, merges, compactions, settles ? "" : ", the janitor left regions", seed);
    tables.add(clone);
    for (TableName old : tables) {
      admin.disableTable(old);
      admin.deleteTable(old);
    }
    admin.deleteSnapshots(java.util.regex.Pattern.compile(".*"));
  }

  /** Tables and snapshots of a root folder, and all of its archive. */
  private static void copy(Path from, Path to, List<TableName> tables, List<String> snapshots) throws IOException {
    for (TableName table : tables) {
      String place = "data/" + table.getNamespaceAsString() + "/" + table.getQualifierAsString();
      copyTree(from.resolve(place), to.resolve(place));
      copyTree(from.resolve("archive/" + place), to.resolve("archive/" + place));
    }
    for (String snapshot : snapshots) {
      copyTree(from.resolve(".hbase-snapshot/" + snapshot), to.resolve(".hbase-snapshot/" + snapshot));
    }
  }

  private static void copyTree(Path from, Path to) throws IOException {
    if (!Files.isDirectory(from)) {
      return;
    }
    List<Path> found;
    try (var walk = Files.walk(from)) {
      found = walk.toList();
    }
    for (Path path : found) {
      Path copy = to.resolve(from.relativize(path));
      if (Files.isDirectory(path)) {
        Files.createDirectories(copy);
      } else if (!path.getFileName().toString().endsWith(".crc")
        && !path.getParent().getFileName().toString().startsWith(".links-")) {
        Files.copy(path, copy);
      }
    }
  }

  // ---- Tables that are kept ------------------------------------------------------------------

  private void create(String name, boolean isMob, boolean compacts, String... splits) throws IOException {
    ColumnFamilyDescriptorBuilder family =
      ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes("f")).setMaxVersions(3);
    if (isMob) {
      family.setMobEnabled(true).setMobThreshold(10);
    }
    byte[][] keys = new byte[splits.length][];
    for (int i = 0; i < splits.length; i++) {
      keys[i] = Bytes.toBytes(splits[i]);
    }
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf(name)).setColumnFamily(family.build())
      .setCompactionEnabled(compacts).build();
    admin.createTable(table, keys.length == 0 ? null : keys);
  }

  private static byte[] row(int number) {
    return Bytes.toBytes(String.format("r%02d", number));
  }

  /** Rows from `from` to before `to`, each with one timestamp, and a flush. */
  private void put(String name, int from, int to, String value) throws IOException {
    TableName table = TableName.valueOf(name);
    try (Table open = connection.getTable(table)) {
      for (int i = from; i < to; i++) {
        open.put(new Put(row(i)).addColumn(Bytes.toBytes("f"), Bytes.toBytes("q"), 1000 + i, Bytes.toBytes(value + i)));
      }
    }
    admin.flush(table);
  }

  private void delete(String name, int from, int to) throws IOException {
    TableName table = TableName.valueOf(name);
    try (Table open = connection.getTable(table)) {
      for (int i = from; i < to; i++) {
        open.delete(new Delete(row(i)).addColumns(Bytes.toBytes("f"), Bytes.toBytes("q"), 1000 + i));
      }
    }
    admin.flush(table);
  }

  private void must(boolean done, String what) throws IOException {
    if (!done) {
      throw new IOException(what + " was refused");
    }
  }

  /** A snapshot of that name of the table; its clone's cells go to DIRECTORY/cells/SNAPSHOT. */
  private void keep(Path directory, String snapshot, String name) throws Exception {
    TableName table = TableName.valueOf(name);
    TableName clone = TableName.valueOf("clone_of_" + snapshot);
    admin.snapshot(snapshot, table);
    copy(root, directory, List.of(), List.of(snapshot));
    admin.cloneSnapshot(snapshot, clone);
    try (BufferedWriter out = Files.newBufferedWriter(directory.resolve("cells").resolve(snapshot));
      Table open = connection.getTable(clone)) {
      new OfTable(open).scan(out, new Scan().setRaw(true).readAllVersions());
    }
    admin.disableTable(clone);
    admin.deleteTable(clone);
  }

  /** The folders that tests/hfile/exchange/golden/hbase has. */
  void record(Path directory) throws Exception {
    Files.createDirectories(directory.resolve("cells"));
    create("split", false, true);
    put("split", 0, 40, "v");
    must(split(TableName.valueOf("split"), row(20)), "split");
    delete("split", 0, 10);
    delete("split", 30, 35);
    compact(TableName.valueOf("split"));

    create("halves", false, false);
    put("halves", 0, 40, "v");
    put("halves", 0, 10, "w");
    must(split(TableName.valueOf("halves"), row(20)), "split");
    put("halves", 5, 6, "new");
    delete("halves", 25, 26);
    keep(directory, "halves", "halves");

    create("merging", false, false, "r20");
    put("merging", 0, 40, "v");
    must(merge(TableName.valueOf("merging"), 0), "merge");
    keep(directory, "merging", "merging");

    create("merged", false, true, "r20");
    put("merged", 0, 40, "v");
    must(merge(TableName.valueOf("merged"), 0), "merge");
    delete("merged", 10, 30);
    compact(TableName.valueOf("merged"));

    admin.cloneSnapshot("halves", TableName.valueOf("copy"));
    put("copy", 39, 41, "x");
    keep(directory, "copy", "copy");

    admin.createNamespace(NamespaceDescriptor.create("ns").build());
    create("ns:one", false, false);
    put("ns:one", 0, 3, "v");
    admin.snapshot("one", TableName.valueOf("ns:one"));
    admin.cloneSnapshot("one", TableName.valueOf("from_ns"));
    must(split(TableName.valueOf("from_ns"), row(1)), "split");
    keep(directory, "from_ns", "from_ns");

    create("mob", true, false);
    put("mob", 0, 2, "v");
    put("mob", 2, 4, "a value of some length ");
    keep(directory, "mob", "mob");

    /* Compacted files go, except those of a table that is compacted just before the end. */
    await("discharger", () -> countFiles("split") == 3 && countFiles("merged") == 3);
    keep(directory, "split", "split");
    keep(directory, "merged", "merged");
    create("compacted", false, true);
    put("compacted", 0, 4, "v");
    delete("compacted", 1, 3);
    compact(TableName.valueOf("compacted"));
    must(countFiles("compacted") == 3, "a copy of compacted files");
    keep(directory, "compacted", "compacted");
    List<TableName> tables = new ArrayList<>();
    for (String name : new String[] {"split", "halves", "merging", "merged", "copy", "ns:one", "from_ns", "mob",
      "compacted"}) {
      tables.add(TableName.valueOf(name));
    }
    copy(root, directory, tables, List.of());
  }

  private long countFiles(String name) throws IOException {
    try (var files = Files.walk(folder(TableName.valueOf(name)))) {
      return files.filter(file -> file.getFileName().toString().matches("[0-9a-f]{32}") && Files.isRegularFile(file))
        .count();
    }
  }
}
