import { describe, expect, it } from "vitest";
import { isStore, readSourceFiles, roomOf, type SourceFile } from "#test/laws/source-files.ts";

const files = readSourceFiles();
const product = files.filter((file) => !file.path.startsWith("test/"));

/** The files that break a rule, as lines for the failure message. */
function breakers(among: readonly SourceFile[], breaks: (file: SourceFile) => string | false): string[] {
  return among.flatMap((file) => {
    const what = breaks(file);
    return what === false ? [] : [`${file.path}: ${what}`];
  });
}

function importsOf(file: SourceFile, pattern: RegExp): string | false {
  return file.imports.find((name) => pattern.test(name)) ?? false;
}

/** Reports whether a room is another one, or a folder of it. */
function isWithin(room: string, other: string): boolean {
  return room === other || room.startsWith(`${other}/`);
}

/** A package may be imported only by the files that wrap it. */
const WRAPPED: readonly [RegExp, RegExp][] = [
  [
    /^@grpc\/grpc-js/,
    /^(control-plane\/checks\/dispatch\/grpc(\/[a-z-]+)?|probe-agent\/(attachment\/attach|membership\/enroll))\.ts$/,
  ],
  [/^@peculiar\/x509$|^reflect-metadata$/, /^control-plane\/checks\/probes\/authority\.ts$/],
  [/^pg-boss$/, /^control-plane\/checks\/jobs(\/[a-z-]+)?\.ts$/],
  [/^playwright-core$/, /^probe-agent\/net\/browser\/(capture|chromium|load|navigate)\.ts$/],
  [/^@exodus\/bytes/, /^probe-agent\/analysis\/text\/encodings\.ts$/],
  [/^@tgwf\/co2$/, /^probe-agent\/analysis\/page\/carbon\.ts$/],
  [/^css-(select|what)$/, /^probe-agent\/analysis\/page\/tech\/selector\.ts$/],
  [/^maxmind$/, /^probe-agent\/data\/places\.ts$/],
  [/^raw-socket$/, /^probe-agent\/net\/icmp\//],
  [
    /^postgres$/,
    /^(control-plane\/core\/database(\/[a-z-]+)?|control-plane\/app\/replica|shared\/client\/(up|doctor)\/[a-z/-]+)\.ts$|migrate\.ts$/,
  ],
  [
    /^fastify$|^@fastify\/|^@scalar\//,
    /^control-plane\/(http|surfaces|checks\/tool-requests|([a-z-]+\/)+([a-z-]+-)?routes)/,
  ],
  [/^@fastify\/busboy$/, /^control-plane\/surfaces\/dashboard\/session-guard\/files\.ts$/],
  [/^nodemailer(\/|$)/, /^(shared\/process\/smtp-session|control-plane\/notify\/mail\/compose)\.ts$/],
  [/^age-encryption$/, /^control-plane\/backups\/format\/age\.ts$/],
  [/^badge-maker$/, /^control-plane\/public\/status-pages\/render\/badge\.ts$/],
  [/^pixelmatch$/, /^control-plane\/watching\/pictures\/compare\/compare\.ts$/],
  [/^pngjs$/, /^control-plane\/watching\/pictures\/compare\/png\.ts$/],
  [/^csv-stringify/, /^shared\/contracts\/render\.ts$/],
  [/^@modelcontextprotocol\/server$/, /^control-plane\/surfaces\/mcp\/protocol\.ts$/],
  [/^commander$/, /^shared\/client\//],
  [/^yaml$/, /^shared\/json\/yaml\.ts$/],
];

describe("who may know whom", () => {
  it("shared imports nothing of the two processes", () => {
    const shared = product.filter((file) => file.path.startsWith("shared/"));
    expect(breakers(shared, (file) => importsOf(file, /^(control-plane|probe-agent|test|deploy)\//))).toEqual([]);
  });

  it("the control plane and the agent never import each other", () => {
    expect(
      breakers(
        product.filter((file) => file.path.startsWith("control-plane/")),
        (file) => importsOf(file, /^(probe-agent|test)\//),
      ),
    ).toEqual([]);
    expect(
      breakers(
        product.filter((file) => file.path.startsWith("probe-agent/")),
        (file) => importsOf(file, /^(control-plane|test)\//),
      ),
    ).toEqual([]);
  });

  it("a thread of analyses loads no contract, no schema and no protocol: each has a heap of its own to hold them in", () => {
    const byPath = new Map(files.map((file) => [file.path, file]));
    const loaded = new Set(["probe-agent/threads/analyses/main.ts"]);
    for (const path of loaded) for (const next of byPath.get(path)?.loads ?? []) loaded.add(next);
    expect(loaded.size).toBeGreaterThan(100);
    expect([...loaded].filter((path) => /^(typebox|@grpc|@bufbuild)|^shared\/(schema|protocol)/.test(path))).toEqual(
      [],
    );
  });

  it("shared does no I/O, the client and the edges of both processes excepted", () => {
    const shared = product.filter(
      (file) => file.path.startsWith("shared/") && !/^shared\/(client|process)\//.test(file.path),
    );
    const io = /^node:(fs|http|https|http2|dgram|tls|dns|child_process|os|worker_threads|timers)/;
    expect(breakers(shared, (file) => importsOf(file, io))).toEqual([]);
  });

  it("dispatch knows nothing of the checks above it", () => {
    const dispatch = product.filter((file) => file.path.startsWith("control-plane/checks/dispatch/"));
    expect(
      breakers(dispatch, (file) =>
        importsOf(file, /^control-plane\/(?!checks\/dispatch\/|core\/|http\/(?:access|limits)\/)/),
      ),
    ).toEqual([]);
  });

  it("only run-check asks the hub for work", () => {
    const asking = (file: SourceFile) =>
      /\bhub\.run\(/.test(file.code) && file.path !== "control-plane/checks/run-check.ts";
    expect(breakers(product, (file) => asking(file) && "hub.run")).toEqual([]);
  });

  it("tools and analysers open nothing: the network is behind the port", () => {
    const pure = product.filter((file) =>
      /^probe-agent\/(tools|monitor-checks|analysis|sources|port|toolkit|dns-codec)\//.test(file.path),
    );
    // node:net also has pure functions on addresses.
    const opensSockets = (file: SourceFile) =>
      /import \{(?! (isIP(v[46])?(, )?)+ \})[^}]*\} from "node:net"/.test(file.text);
    expect(breakers(pure, (file) => opensSockets(file) && "node:net")).toEqual([]);
    const io =
      /^node:(fs|tls|http|https|http2|dgram|dns|child_process|worker_threads)|^probe-agent\/(net|threads|attachment|membership)\//;
    expect(breakers(pure, (file) => importsOf(file, io))).toEqual([]);
    const analysers = product.filter((file) => file.path.startsWith("probe-agent/analysis/"));
    expect(breakers(analysers, (file) => importsOf(file, /^probe-agent\/(tools|sources|toolkit)\//))).toEqual([]);
  });

  it("a file of a tool's folder takes the network and shows it in its imports, or is an analysis, as pure as those", () => {
    const network = /^probe-agent\/(sources|toolkit)\/|^probe-agent\/tools\/implement\.ts$/;
    const takers = new Set(
      product.flatMap((file) => (file.imports.some((name) => network.test(name)) ? file.path : [])),
    );
    const analysers = product.filter(({ path }) => /^probe-agent\/tools\/[a-z-]+\//.test(path) && !takers.has(path));
    expect(analysers.length).toBeGreaterThan(100);
    const byPath = new Map(product.map((file) => [file.path, file]));
    const reached = (file: SourceFile) => {
      const loaded = new Set([file.path]);
      for (const path of loaded) for (const next of byPath.get(path)?.loads ?? []) loaded.add(next);
      return [...loaded].find((path) => takers.has(path) || network.test(path)) ?? false;
    };
    expect(breakers(analysers, reached)).toEqual([]);
  });

  it("no noun imports another noun's store", () => {
    const foreign = (file: SourceFile) => {
      const isForeign = (name: string) =>
        name.startsWith("control-plane/") &&
        !isWithin(roomOf(name), roomOf(file.path)) &&
        !isWithin(roomOf(file.path), roomOf(name));
      return file.imports.find((name) => isForeign(name) && isStore(name)) ?? false;
    };
    const inside = product.filter((file) => /^control-plane\/(?!app\/)[a-z-]+\//.test(file.path));
    expect(breakers(inside, foreign)).toEqual([]);
  });

  it.each(WRAPPED)("%s is imported only where it is wrapped", (module, allowed) => {
    expect(breakers(product, (file) => !allowed.test(file.path) && importsOf(file, module))).toEqual([]);
  });
});

describe("the place of code", () => {
  it("of statements is a file that its name calls a store, whole or in parts", () => {
    const names = ["store.ts", "a/store.ts", "a/events-store.ts", "a/restore.ts", "a/store/read.ts", "a/-store.ts"];
    expect(names.filter(isStore)).toEqual(["store.ts", "a/store.ts", "a/events-store.ts"]);
  });

  it("SQL is in stores and migrations only", () => {
    const sql = (file: SourceFile) => /\bsql(<[^`]*>)?`|\.unsafe\(/.test(file.code);
    const allowed = /(^|\/)migrate\.ts$|^shared\/client\/(up|doctor)\//;
    const mayHold = ({ path }: SourceFile) => isStore(path) || allowed.test(path);
    expect(breakers(product, (file) => sql(file) && !mayHold(file) && "SQL")).toEqual([]);
  });

  it("environment, clock and randomness come from main alone", () => {
    const ambient = [
      "process.env",
      "Date.now(",
      "new Date()",
      "Math.random(",
      "performance.now(",
      "process.hrtime",
      "randomBytes(",
      "randomUUID(",
      "getRandomValues",
    ];
    const allowed = /(^|\/)main\.ts$|^shared\/client\/|^deploy\//;
    const found = ({ code }: SourceFile) => ambient.find((word) => code.includes(word)) ?? false;
    expect(breakers(product, (file) => !allowed.test(file.path) && found(file))).toEqual([]);
  });

  it("an address of the service is its base URL and a path, one after the other: resolving the path loses that of the base", () => {
    const callers = product.filter(({ path }) => /^(?:control-plane|shared)\//.test(path));
    // Their bases are folders of this program.
    const ofFiles = /^control-plane\/(?:core\/migrations\/migrate|surfaces\/api-document\/components)\.ts$/;
    const resolves = /(?:new URL|URL\.(?:parse|canParse))\([^()]*,\s*(?!import\.meta\.url)\w/;
    const found = ({ path, code }: SourceFile) => !ofFiles.test(path) && (resolves.exec(code)?.[0] ?? false);
    expect(breakers(callers, found)).toEqual([]);
  });

  it("a Refusal is thrown only by the HTTP side", () => {
    const allowed = /^control-plane\/(http|surfaces|checks\/tool-requests)\/|\/([a-z-]+-)?routes(\.ts$|\/)/;
    expect(
      breakers(product, (file) => !allowed.test(file.path) && /new Refusal\(/.test(file.code) && "Refusal"),
    ).toEqual([]);
  });

  it("there are no default exports and no barrels but the two catalogues of tools", () => {
    const allowed = /^test\/.*(vitest|documented).*config\.ts$/;
    expect(
      breakers(files, (file) => !allowed.test(file.path) && /\bexport default\b/.test(file.code) && "export default"),
    ).toEqual([]);
    // The pure cores under the names by which vectors of others call them.
    const apart = files.filter(({ path }) => path !== "test/entry-points.ts");
    expect(breakers(apart, (file) => /\bexport (type )?(\*|\{[^}]*\}) from/.test(file.code) && "re-export")).toEqual(
      [],
    );
  });

  it("no file has a name that says nothing of what it holds", () => {
    const vague = /\/(?:apart|facts|known|leash|own|pace|shown|told|view|whole|words)\.ts$/;
    expect(breakers(product, (file) => vague.exec(file.path)?.[0] ?? false)).toEqual([]);
  });

  it("no file is above 400 lines, few above 300, and half of them about 80 or less", () => {
    expect(breakers(files, (file) => file.lines > 400 && `${file.lines} lines`)).toEqual([]);
    const long = product.filter((file) => file.lines > 300);
    expect(long.length).toBeLessThanOrEqual(product.length / 100);
    const lengths = product.map((file) => file.lines).toSorted((a, b) => a - b);
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(110);
  });

  it("every exported function and type of the product has a doc line", () => {
    const undocumented = (file: SourceFile) => {
      const lines = file.text.split("\n");
      const index = lines.findIndex(
        (line, at) =>
          /^export (async )?(function|interface|type|const|class)\b/.test(line) &&
          !/\*\/\s*$/.test(lines[at - 1] ?? "") &&
          !/^export (async )?function/.test(lines[at - 1] ?? ""),
      );
      return index >= 0 && `line ${index + 1}`;
    };
    expect(breakers(product, undocumented)).toEqual([]);
  });
});
