import type { Static } from "typebox";
import { diffResource, type ChangedField } from "#control-plane/http/access/diff-resource.ts";
import { describeLogo, logoPath } from "#control-plane/public/status-pages/logos/logo.ts";
import { noteDomain, recordOf } from "#control-plane/public/status-pages/domains/record.ts";
import { READ_ONLY, type PAGE } from "#control-plane/public/status-pages/settings/fields.ts";
import type { StatusPage } from "#control-plane/public/status-pages/settings/page-settings.ts";

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
    accent_color: page.accentColor,
    logo_url: page.logo === null ? null : `${url}${logoPath(page.logo)}`,
    is_public: page.isPublic,
    domain: page.domain,
    domain_state: page.domainState,
    domain_record: page.domain === null ? null : recordOf(page.domain, page.domainToken),
    domain_note: noteDomain(page),
    show_causes: page.showCauses,
    auto_incidents: page.autoIncidents,
    auto_incidents_after_minutes: page.autoIncidentsAfterMinutes,
    response_graph: page.responseGraph,
    monitors: page.monitors.map(({ id, name }) => ({ id, name: name ?? names.get(id) ?? "" })),
    groups: page.groups.map(({ name, monitorIds }) => ({ name, monitor_ids: [...monitorIds] })),
    created_at: page.createdAt.toISOString(),
    updated_at: page.updatedAt.toISOString(),
  };
}

/** Returns the fields of a page that a change has changed: those that users write. `names` as above, before and after. */
export function changedFields(
  before: StatusPage,
  after: StatusPage,
  names: ReadonlyMap<number, string>,
): readonly ChangedField[] {
  const writable = (page: StatusPage) => {
    const fields = Object.entries(showPage(page, names, ""));
    const logo = page.logo === null ? null : describeLogo(page.logo);
    return { ...Object.fromEntries(fields.filter(([name]) => !READ_ONLY.includes(name))), logo };
  };
  return diffResource(writable(before), writable(after), []);
}
