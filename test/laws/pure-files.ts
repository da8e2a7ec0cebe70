import type { SourceFile } from "#test/laws/source-files.ts";

/**
 * What a pure test may load besides the project's own files, with the names it may load of a module that can do more.
 * Everything else (sockets, processes, threads, writing files, clients of databases, new packages) makes a test impure.
 */
const HARMLESS: ReadonlyMap<string, RegExp> = new Map([
  ["node:buffer", /./],
  ["node:crypto", /./],
  ["node:path", /./],
  ["node:querystring", /./],
  ["node:stream", /./],
  ["node:stream/consumers", /./],
  ["node:timers/promises", /./],
  ["node:url", /./],
  ["node:util", /./],
  ["node:zlib", /./],
  ["node:fs", /^(?:existsSync|readdirSync|readFileSync|statSync)$/],
  ["node:fs/promises", /^(?:readdir|readFile)$/],
  ["node:http", /^STATUS_CODES$/],
  ["node:net", /^(?:BlockList|isIP|isIPv4|isIPv6|SocketAddress)$/],
  ["node:os", /^(?:EOL|tmpdir)$/],
  ["@exodus/bytes/encoding.js", /./],
  ["@tgwf/co2", /./],
  ["css-select", /./],
  ["css-what", /./],
  ["csv-stringify/sync", /./],
  ["domhandler", /./],
  ["htmlparser2", /./],
  ["ipaddr.js", /./],
  ["lru-cache", /./],
  ["tldts", /./],
  ["typebox", /./],
  ["typebox/value", /./],
  ["vitest", /./],
]);

/** State of the process, and vitest's ways to replace it: `vi` mocks modules, clocks and globals. */
const GLOBAL_STATE =
  /\b(?:vi\.|globalThis\b|process\.(?:chdir|env|exitCode|kill|on|once|umask)\b|WebSocket\b|import\((?!"))|(?<!\.)\bfetch\(/;

/** Why a file may not share a process with other tests, in a few words; null where it may. */
export function whyImpure({ path, code, loadedNames }: SourceFile): string | null {
  for (const [module, names] of loadedNames) {
    if (/\.(?:ts|json)$/.test(module)) continue;
    const allowed = HARMLESS.get(module);
    const wrong = allowed === undefined ? names : names.filter((name) => !allowed.test(name));
    if (allowed === undefined || wrong.length > 0) return `${path} loads ${wrong.join(", ")} of ${module}`;
  }
  const state = GLOBAL_STATE.exec(code)?.[0];
  return state === undefined ? null : `${path} uses ${state}`;
}

/**
 * The test files that may share a process: nothing that they load, directly or through other files, opens a socket,
 * starts a process or a thread, writes a file or changes the state of the process.
 */
export function pureTestFiles(files: readonly SourceFile[]): readonly string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const impure = new Set(files.filter((file) => whyImpure(file) !== null).map(({ path }) => path));
  const isPure = ({ path }: SourceFile): boolean => {
    const loaded = new Set([path]);
    for (const from of loaded) {
      if (impure.has(from)) return false;
      for (const next of byPath.get(from)?.loads ?? []) loaded.add(next);
    }
    return true;
  };
  return files.filter((file) => file.path.endsWith(".test.ts") && isPure(file)).map(({ path }) => path);
}
