import { table } from "#shared/presentation/build.ts";
import type { Table } from "#shared/presentation/presentation.ts";
import { bytes } from "#shared/presentation/values.ts";
import { writeDuration } from "#shared/text/duration.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { performance } from "#shared/tools/performance.ts";

type Resources = ResultOf<typeof performance>["resources"];

const KINDS = {
  image: "images",
  script: "scripts",
  stylesheet: "styles",
  font: "fonts",
  media: "audio and video",
  frame: "frames",
  other: "other",
} as const;

/** Lists the resources of a page: weight by kind, and those that slow it down or do not arrive. */
export function listResources(resources: Resources): readonly (Table | null)[] {
  const { failed, third_party: others } = resources;
  return [
    listKinds(resources),
    listSized("Blocks the first paint", resources.render_blocking, resources.render_blocking_total),
    listSized("Sent uncompressed", resources.without_compression, resources.without_compression_total),
    table(
      "Cached for less than a week",
      ["Kind", "Cached for", "Cache-Control", "Address"],
      resources.without_cache.map(({ type, fresh_s: fresh, cache_control: header, url }) => [
        type,
        fresh === null ? "not stated" : writeDuration(fresh),
        header,
        url,
      ]),
      resources.without_cache_total,
    ),
    table(
      "Not loaded",
      ["Reason", "Address"],
      failed.map(({ url, reason }) => ({ cells: [reason, url], tone: "warning" })),
    ),
    table(
      "Other sites",
      ["Host", "#Requests"],
      others.hosts.map(({ host, count }) => [host, count]),
    ),
  ];
}

function listKinds({ count, bytes: sizes }: Resources): Table | null {
  return table(
    "Resources by kind",
    ["Kind", "#Number", "#Size"],
    Object.entries(KINDS)
      .map(([kind, name]) => ({
        name,
        number: count[kind as keyof typeof KINDS],
        size: sizes[kind as keyof typeof KINDS],
      }))
      .filter(({ number }) => number > 0)
      .toSorted((one, other) => other.size - one.size)
      .map(({ name, number, size }) => [name, number, bytes(size)]),
  );
}

/** Lists resources, the largest first. */
function listSized(title: string, rows: Resources["render_blocking"], total: number): Table | null {
  return table(
    title,
    ["#Size", "Kind", "Address"],
    rows
      .toSorted((one, other) => (other.bytes ?? 0) - (one.bytes ?? 0))
      .map(({ bytes: size, type, url }) => [size === null ? "unknown" : bytes(size), type, url]),
    total,
  );
}
