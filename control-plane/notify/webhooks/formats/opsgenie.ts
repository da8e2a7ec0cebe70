import type { Format } from "#control-plane/notify/webhooks/formats/format.ts";
import { genieAlerts } from "#control-plane/notify/webhooks/formats/genie.ts";

/**
 * Opsgenie, "Alert API" (docs.opsgenie.com/docs/alert-api). The url of the subscription is https://api.opsgenie.com, or
 * https://api.eu.opsgenie.com for accounts in the EU. Atlassian shuts Opsgenie down ("API Overview", docs.opsgenie.com).
 */
export const opsgenie: Format = {
  name: "opsgenie",
  title: "Opsgenie",
  end: { on: "2027-04-05", successor: "jsm" },
  ...genieAlerts("/v2/alerts"),
};
