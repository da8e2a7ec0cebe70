import type { Static } from "typebox";
import { recordOf } from "#control-plane/status-pages/domains/record.ts";
import type { PAGE } from "#control-plane/status-pages/settings/fields.ts";
import type { StatusPage } from "#control-plane/status-pages/settings/page-settings.ts";

/** A page as the answers to its account show it. */
export type ShownPage = Static<typeof PAGE>;

/** Returns a page as the API shows it; `names` are those of its monitors. */
export function showPage(page: StatusPage, names: ReadonlyMap<number, string>, url: string): ShownPage {
  return {
    id: page.id,
    title: page.title,
    slug: page.slug,
    url,
    description: page.description,
    footer: page.footer,
    homepage_url: page.homepageUrl,
    is_public: page.isPublic,
    domain: page.domain,
    domain_state: page.domainState,
    domain_record: page.domain === null ? null : recordOf(page.domain, page.domainToken),
    show_causes: page.showCauses,
    auto_incidents: page.autoIncidents,
    auto_incidents_after_minutes: page.autoIncidentsAfterMinutes,
    monitors: page.monitors.map(({ id, name }) => ({ id, name: name ?? names.get(id) ?? "" })),
    groups: page.groups.map(({ name, monitorIds }) => ({ name, monitor_ids: [...monitorIds] })),
    created_at: page.createdAt.toISOString(),
    updated_at: page.updatedAt.toISOString(),
  };
}
