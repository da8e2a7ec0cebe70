import type { SourceFile } from "#test/laws/source-files.ts";

/**
 * What would reach other tests of the process: a replaced clock, module or global, a changed environment or default,
 * a listener on the process, a module loaded by a computed name.
 */
const CHANGE =
  /\bvi\.(?!setConfig\b|waitFor\b|waitUntil\b)\w+|\bglobalThis\b|\bprocess\.(?:chdir|exit|exitCode|on|once|setMaxListeners|umask)\b|\bprocess\.env(?:\[[^\]]*\]|\.\w+)?\s*(?:=(?![=>])|\?\?=)|\bdelete process\.env|\b(?:set(?:Default|Global)\w+|defaultMaxListeners|stackTraceLimit|registerHooks)\b|\bdns\.setServers\b|\bawait import\((?!")/;

/** What would count other tests of the process too: its memory, its resources, its time. */
const MEASURED = [
  "memoryUsage",
  "resourceUsage",
  "getActiveResourcesInfo",
  "cpuUsage",
  "getHeapStatistics",
  "eventLoopUtilization",
  "monitorEventLoopDelay",
  "WeakRef",
  "FinalizationRegistry",
];
const MEASUREMENT = new RegExp(`\\b(?:${MEASURED.join("|")})\\b`);

/** Why a test, or a file that tests load, needs a process to itself, in a few words; null where it does not. */
export function whyAlone({ path, code }: SourceFile): string | null {
  const found = (CHANGE.exec(code) ?? MEASUREMENT.exec(code))?.[0];
  return found === undefined ? null : `${path} uses ${found}`;
}

/**
 * The test files that may follow others in one process. They may open sockets and start processes and threads, which
 * they stop, but neither they nor the files under test/ that they load change or measure the process itself. Files of
 * the product are not searched: its programs, which tests start as processes, are what changes a process there.
 */
export function sharingTestFiles(files: readonly SourceFile[]): readonly string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const alone = new Set(files.filter((file) => whyAlone(file) !== null).map(({ path }) => path));
  const mayShare = ({ path }: SourceFile): boolean => {
    const loaded = new Set([path]);
    for (const from of loaded) {
      if (alone.has(from)) return false;
      for (const next of byPath.get(from)?.loads ?? []) if (next.startsWith("test/")) loaded.add(next);
    }
    return true;
  };
  return files.filter((file) => file.path.endsWith(".test.ts") && mayShare(file)).map(({ path }) => path);
}
