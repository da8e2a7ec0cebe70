import { failed, ok } from "#shared/contracts/outcome.ts";
import { wayback as contract } from "#shared/tools/wayback/contract.ts";
import { countYears, toSnapshot, type Capture } from "#probe-agent/analysis/web/wayback.ts";
import { askAvailability, askIndex, type CaptureIndex, type ArchiveAnswer } from "#probe-agent/sources/wayback.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/**
 * Asks both services of the archive at the same time. Only the index can prove that there is no snapshot, because the
 * availability service omits pages that are archived.
 */
export const wayback = implement(contract, async (net, { url: given }) => {
  const observedAt = net.now().toISOString();
  const asked = new URL(given);
  asked.hash = "";
  const url = asked.href;
  const [available, index] = await Promise.all([askAvailability(net, url), askIndex(net, url)]);
  const closest = available.ok ? available.value : null;
  if (!index.ok && closest === null) {
    const why = available.ok ? "reports no snapshot, which proves nothing" : available.reason;
    const message = `the archive did not answer: its index: ${index.reason}; its availability service: ${why}`;
    return failed("response", index.source, "source_unavailable", message);
  }
  const captures = index.ok ? index.value.captures : [];
  // The availability service reports new snapshots before the index lists them.
  const behind = index.ok && captures.length === 0 && closest !== null;
  const counted = index.ok && !index.value.cut && !behind;
  const archive = `${new URL(net.services.waybackCdxUrl).origin}/web/`;
  const describe = (capture: Capture | null | undefined) =>
    capture === null || capture === undefined ? null : toSnapshot(capture, archive, url);
  const last = index.ok ? index.value.last : null;
  return ok({
    url,
    archived: captures.length > 0 || closest !== null,
    snapshots_total: counted ? captures.length : null,
    first: describe(captures[0]),
    last: describe(last),
    closest: describe(closest ?? last),
    years: counted ? countYears(captures) : {},
    calendar_url: `${archive}*/${url}`,
    source: [...(available.ok ? ["archive.org availability"] : []), ...(index.ok ? ["archive.org cdx"] : [])],
    observed_at: observedAt,
    limitations: [
      ...limitationsOf(available, index),
      ...(behind
        ? ["Snapshots were not counted: the index does not list the snapshot that exists, so it may lag behind."]
        : []),
    ],
  });
});

function limitationsOf(available: ArchiveAnswer<Capture | null>, index: ArchiveAnswer<CaptureIndex>): string[] {
  return [
    ...(available.ok ? [] : [`The availability service did not answer: ${available.reason}.`]),
    ...(index.ok ? [] : [`Snapshots were not counted: the index did not answer: ${index.reason}.`]),
    ...(index.ok && index.value.cut
      ? [`Not all snapshots were counted: there are more than ${index.value.captures.length}.`]
      : []),
    ...(index.ok && index.value.cut && index.value.last === null ? ["The newest snapshot is unavailable."] : []),
  ];
}
