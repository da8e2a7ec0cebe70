import { dashboardUrl } from "#control-plane/notify/mail/content/notice.ts";
import { withoutTrailing } from "#shared/text/strip-trailing.ts";
import { JSON_HEADERS, type Format } from "#control-plane/notify/webhooks/formats/format.ts";

/** The body that the documentation of the service describes, as it is stored, with the address of its page for people. */
export const standard: Format = {
  name: "standard",
  title: "Standard",
  options: [],
  build: ({ body, data }, { url, pageUrl }) => ({
    url,
    headers: JSON_HEADERS,
    body: pageUrl === null ? body : addPage(body, data as KnownData, pageUrl),
  }),
};

/** What names the page of an event, of the data of every type. */
interface KnownData {
  readonly monitor?: { readonly id: number };
  readonly incident_id?: number | null;
}

function addPage(body: string, data: KnownData, pageUrl: string): string {
  const { incident_id: incidentId = null, monitor } = data;
  const base = withoutTrailing(pageUrl, (character) => character === "/");
  const page = dashboardUrl(base, { incidentId, monitorId: monitor?.id ?? null });
  return JSON.stringify({ ...(JSON.parse(body) as object), data: { ...data, dashboard_url: page } });
}
