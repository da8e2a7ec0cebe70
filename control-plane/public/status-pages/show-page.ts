import { changedFields, show } from "#control-plane/http/resource.ts";
import type { ChangedField } from "#control-plane/http/access/diff-resource.ts";
import { noteDomain, recordOf } from "#control-plane/public/status-pages/domains/record.ts";
import { describeLogo, logoPath } from "#control-plane/public/status-pages/logos/logo.ts";
import type { StatusPage } from "#control-plane/public/status-pages/settings/page-settings.ts";
import { type ShownPage, statusPage } from "#control-plane/public/status-pages/settings/resource.ts";

/** Returns a page as the API shows it; `names` are those of its monitors. */
export function showPage(page: StatusPage, names: ReadonlyMap<number, string>, url: string): ShownPage {
  return show(statusPage, page, {
    id: page.id,
    url,
    logo_url: page.logo === null ? null : `${url}${logoPath(page.logo)}`,
    domain_state: page.domainState,
    domain_record: page.domain === null ? null : recordOf(page.domain, page.domainToken),
    domain_note: noteDomain(page),
    monitors: page.monitors.map(({ id, name }) => ({ id, name: name ?? names.get(id) ?? "" })),
    groups: page.groups.map(({ name, monitorIds }) => ({ name, monitor_ids: [...monitorIds] })),
    created_at: page.createdAt.toISOString(),
    updated_at: page.updatedAt.toISOString(),
  });
}

/** Returns the fields of a page that a change has changed: those that users write. `names` as above, before and after. */
export function changedOf(
  before: StatusPage,
  after: StatusPage,
  names: ReadonlyMap<number, string>,
): readonly ChangedField[] {
  const shown = (page: StatusPage) => ({
    ...showPage(page, names, ""),
    logo: page.logo === null ? null : describeLogo(page.logo),
  });
  return changedFields(statusPage, shown(before), shown(after));
}
