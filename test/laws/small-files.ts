import { isStore, roomOf, type SourceFile } from "#test/laws/source-files.ts";

/** A file with fewer lines is small. */
const SMALL = 40;
/** The largest file that a merge may make: its importer's lines and its own. */
const FULL = 220;

/** Files that list others by name: their entries are found by the list, and each is a file of its own. */
export const REGISTRIES: readonly string[] = [
  "control-plane/checks/job-inputs/open.ts",
  "control-plane/outages/kinds/kinds.ts",
  "control-plane/notify/mail/content/event-body.ts",
  "control-plane/public/status-pages/routes/public-formats.ts",
  "control-plane/notify/webhooks/formats/formats.ts",
  "probe-agent/analysis/site/analyses.ts",
  "probe-agent/data/open.ts",
  "probe-agent/monitor-checks/list.ts",
  "probe-agent/net/create.ts",
  "probe-agent/tools/index.ts",
  "shared/client/program.ts",
  "shared/monitor-checks/list.ts",
  "shared/presentation/presenters.ts",
  "shared/tools/index.ts",
];

/** Small files that stay, each with its reason. */
export const STAY: ReadonlyMap<string, string> = new Map([
  ["probe-agent/attachment/inside-target.ts", "a pure decision beside the wiring of the service"],
  ["probe-agent/net/icmp/host-jobs.ts", "pure, beside the process of host.ts"],
  ["probe-agent/net/icmp/probers/source-ports.ts", "pure, beside the sockets of tcp.ts"],
  ["probe-agent/net/icmp/restart-wait.ts", "pure, beside the process of host.ts"],
  ["probe-agent/net/icmp/stall.ts", "pure, beside the raw socket of socket.ts"],
  ["shared/process/write-progress.ts", "pure, beside the connections of stalled-clients.ts"],
]);

/**
 * Files under 40 lines that one file of the product alone imports, a file of their own room that is no registry and
 * has space for them. A reader crosses two files there for one thought. A store stays apart, however small. Pure.
 */
export function findSmallFiles(product: readonly SourceFile[]): readonly string[] {
  const importers = new Map<string, SourceFile[]>();
  for (const file of product)
    for (const name of new Set(file.imports)) importers.set(name, [...(importers.get(name) ?? []), file]);
  const belongsToImporter = ({ path, lines }: SourceFile): boolean => {
    if (isStore(path)) return false;
    const [importer, ...others] = importers.get(path) ?? [];
    if (importer === undefined || others.length > 0 || REGISTRIES.includes(importer.path)) return false;
    return lines < SMALL && roomOf(importer.path) === roomOf(path) && lines + importer.lines <= FULL;
  };
  return product.filter(belongsToImporter).map(({ path }) => path);
}
