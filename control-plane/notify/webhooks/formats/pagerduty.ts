import { describeAlert } from "#control-plane/notify/webhooks/formats/alert.ts";
import { completeHost } from "#control-plane/notify/webhooks/formats/endpoint.ts";
import { fit } from "#control-plane/notify/webhooks/formats/fit.ts";
import { JSON_HEADERS, type Format } from "#control-plane/notify/webhooks/formats/format.ts";
import { option } from "#control-plane/notify/webhooks/formats/options.ts";
import { findReference, findText } from "#control-plane/notify/webhooks/formats/reference.ts";
import type { Refusal } from "#control-plane/notify/webhooks/formats/refusal.ts";

/** payload.summary: 1024 characters. The whole is limited to 512 KB, of which the longest event has a tenth. */
const MOST_SUMMARY = 1_024;

/**
 * PagerDuty, "Events API v2", "Send an alert event" (developer.pagerduty.com/docs/events-api-v2-overview): an event with
 * `trigger`, or with `resolve` where a problem is over. The url of the subscription is
 * https://events.pagerduty.com/v2/enqueue, or the same of the region.
 */
export const pagerduty: Format = {
  name: "pagerduty",
  title: "PagerDuty",
  keepsAlerts: true,
  options: [option({ name: "routing_key", description: "integration key of an Events API v2 integration" })],
  reference: (bodyStart) => findReference(bodyStart, ["dedup_key"]),
  refusal: readRefusal,
  build(event, target) {
    const { url, options, pageUrl } = target;
    const alert = describeAlert(event, target);
    const { opens, resolves } = alert;
    const details = alert.locations.length === 0 ? {} : { "Failing locations": alert.locations };
    const trigger = {
      routing_key: options["routing_key"],
      event_action: "trigger",
      dedup_key: opens?.key,
      payload: {
        summary: fit(alert.summary, MOST_SUMMARY),
        source: alert.source,
        severity: alert.severity,
        timestamp: event.createdAt,
        class: event.type,
        custom_details: { ...Object.fromEntries(alert.facts), ...details },
      },
      links: alert.links.map(([text, href]) => ({ href, text })),
      client: "Vantage",
      ...(pageUrl === null ? {} : { client_url: pageUrl }),
    };
    const resolve = {
      routing_key: options["routing_key"],
      event_action: "resolve",
      dedup_key: resolves[0]?.key,
    };
    const body = JSON.stringify(opens === null ? resolve : trigger);
    return { url: completeHost(url, "/v2/enqueue"), headers: JSON_HEADERS, body };
  },
};

/** "API response codes & retry logic": an event that is not valid, or whose key is not, is refused again. */
function readRefusal(bodyStart: string): Refusal | null {
  const status = findText(bodyStart, ["status"]) ?? "success";
  if (status === "success") return null;
  return /^invalid\b/i.test(status) ? "permanent" : "temporary";
}
