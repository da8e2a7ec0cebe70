import type { Finding, WebhookHistory } from "#test/fleet/webhooks/records.ts";

/** Promise 8: each ping that was answered with 200 has its effect, once: one event for each change of status. */
export function writeFindings({ pings, events }: WebhookHistory): Finding[] {
  const typesOf = Map.groupBy(
    events.toSorted((a, b) => a.createdAt - b.createdAt),
    ({ monitorId }) => monitorId,
  );
  return Array.from(
    Map.groupBy(pings, ({ monitorId }) => monitorId),
    ([monitorId, own]): Finding[] => {
      const wanted = own.map(({ status }) => `monitor.${status}`);
      const found = (typesOf.get(monitorId) ?? []).map(({ type }) => type);
      if (wanted.join() === found.join()) return [];
      return [{ rule: "pings that were answered do not have their events", about: { monitorId, wanted, found } }];
    },
  ).flat();
}
