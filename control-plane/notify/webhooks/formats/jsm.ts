import type { Format } from "#control-plane/notify/webhooks/formats/format.ts";
import { genieAlerts } from "#control-plane/notify/webhooks/formats/genie.ts";

/**
 * Jira Service Management, "Integration events"
 * (developer.atlassian.com/cloud/jira/service-desk-ops/rest/v1/api-group-integration-events): the alerts of Opsgenie under
 * another path, with the same keys and "identifierType". The url of the subscription is https://api.atlassian.com.
 */
export const jsm: Format = {
  name: "jsm",
  title: "Jira Service Management",
  ...genieAlerts("/jsm/ops/integration/v2/alerts"),
};
