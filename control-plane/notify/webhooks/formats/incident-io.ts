import { describeAlert, listLines } from "#control-plane/notify/webhooks/formats/alert.ts";
import { escapeMarkdown, fit, replaceMentions } from "#control-plane/notify/webhooks/formats/fit.ts";
import { JSON_HEADERS, type Format } from "#control-plane/notify/webhooks/formats/format.ts";
import { option } from "#control-plane/notify/webhooks/formats/options.ts";
import { findReference, findText } from "#control-plane/notify/webhooks/formats/reference.ts";
import { refusalOf, type Refusal } from "#control-plane/notify/webhooks/formats/refusal.ts";

/** The description is Markdown, in which two spaces keep the end of a line. */
const escapeLines = (text: string): string => escapeMarkdown(text).replaceAll("\n", "  \n");
/** The documentation names no limits of the fields. */
const MOST_TITLE = 512;
const MOST_DESCRIPTION = 4_096;

/**
 * incident.io, "Alert Events V2", create an event of an HTTP source (docs.incident.io/api-reference/alert-events-v2):
 * `firing`, or `resolved` with the same deduplication_key. The url of the subscription is that of the alert source,
 * https://api.incident.io/v2/alert_events/http/ and its id. It passes alerts on to chats, so nothing in them is a mention.
 */
export const incidentIo: Format = {
  name: "incident-io",
  title: "incident.io",
  keepsAlerts: true,
  options: [option({ name: "token", description: "token of the alert source" })],
  reference: (bodyStart) => findReference(bodyStart, ["deduplication_key"]),
  refusal: readRefusal,
  build(event, target) {
    const { url, options } = target;
    const alert = describeAlert(event, target);
    const { opens, resolves } = alert;
    const about = opens ?? resolves[0];
    const [first] = alert.links;
    const body = {
      title: fit(alert.summary, MOST_TITLE, replaceMentions),
      description: fit(listLines(alert).join("\n"), MOST_DESCRIPTION, escapeLines),
      deduplication_key: about?.key,
      status: opens === null ? "resolved" : "firing",
      metadata: {
        severity: alert.severity,
        source: replaceMentions(alert.source),
        event_type: event.type,
        event_id: event.id,
        ...(about?.monitorId == null ? {} : { monitor_id: String(about.monitorId) }),
      },
      ...(first === undefined ? {} : { source_url: first[1] }),
    };
    const headers = { ...JSON_HEADERS, authorization: `Bearer ${options["token"]}` };
    return { url, headers, body: JSON.stringify(body) };
  },
};

/** An error has the status of HTTP where an accepted event has "success". */
function readRefusal(bodyStart: string): Refusal | null {
  const status = findText(bodyStart, ["status"]);
  return status === null || !/^[45]\d\d$/.test(status) ? null : refusalOf(status);
}
