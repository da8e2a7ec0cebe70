import { describeAlert, listLines, type Alert } from "#control-plane/notify/webhooks/formats/alert.ts";
import { addPath, setParameter } from "#control-plane/notify/webhooks/formats/endpoint.ts";
import { escaper, fit } from "#control-plane/notify/webhooks/formats/fit.ts";
import { JSON_HEADERS, type Format } from "#control-plane/notify/webhooks/formats/format.ts";
import { option } from "#control-plane/notify/webhooks/formats/options.ts";
import { findReference, findText } from "#control-plane/notify/webhooks/formats/reference.ts";
import { refusalOf, type Refusal } from "#control-plane/notify/webhooks/formats/refusal.ts";

/** "Alerts and alert fields": HTML in message and description has a meaning, and notes are shown like them. */
const replaceHtml = escaper({ "<": "‹", ">": "›" });
const MOST_MESSAGE = 130;
const MOST_DESCRIPTION = 15_000;
const MOST_ENTITY = 512;
const SOURCE = "Vantage";

/**
 * Returns what a format is that sends alerts as Opsgenie takes them: "Create alert", or "Close alert" by alias where a
 * problem is over. `path`: of alerts, below the provider's base address.
 */
export function genieAlerts(path: string): Pick<Format, "keepsAlerts" | "options" | "reference" | "refusal" | "build"> {
  return {
    keepsAlerts: true,
    options: [option({ name: "api_key", description: "API key of an API integration" })],
    // "Create alert", response: requests are processed later; their status is found by this id.
    reference: (bodyStart) => findReference(bodyStart, ["requestId"]),
    refusal: readRefusal,
    build(event, target) {
      const { url, options } = target;
      const alert = describeAlert(event, target);
      const headers = { ...JSON_HEADERS, authorization: `GenieKey ${options["api_key"]}` };
      const alerts = addPath(url, path);
      const { opens, resolves } = alert;
      if (opens === null) {
        const closing = addPath(alerts, `/${resolves[0]?.key}/close`);
        const body = { source: SOURCE, note: fit(describe(alert), MOST_DESCRIPTION, replaceHtml) };
        return { url: setParameter(closing, "identifierType", "alias"), headers, body: JSON.stringify(body) };
      }
      const body = {
        message: fit(alert.summary, MOST_MESSAGE, replaceHtml),
        alias: opens.key,
        description: fit(describe(alert), MOST_DESCRIPTION, replaceHtml),
        tags: ["vantage", event.type],
        details: { event_id: event.id, ...(opens.monitorId === null ? {} : { monitor_id: String(opens.monitorId) }) },
        entity: fit(alert.source, MOST_ENTITY, replaceHtml),
        source: SOURCE,
        priority: { critical: "P1", warning: "P3", info: "P5" }[alert.severity],
      };
      return { url: alerts, headers, body: JSON.stringify(body) };
    },
  };
}

function describe(alert: Alert): string {
  return [alert.title, ...alert.links.map(([label, address]) => `${label}: ${address}`), ...listLines(alert)].join(
    "\n",
  );
}

/** A request that is accepted has a result; an error has a message in its place, and at Jira a code. */
function readRefusal(bodyStart: string): Refusal | null {
  if (findText(bodyStart, ["result"]) !== null || findText(bodyStart, ["message"]) === null) return null;
  return refusalOf(findText(bodyStart, ["code"]));
}
