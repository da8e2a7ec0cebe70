import { refuse, type Read } from "#shared/schema/problem.ts";
import { readLogo } from "#control-plane/public/status-pages/logos/logo.ts";
import { readDomain } from "#control-plane/public/status-pages/settings/domain.ts";
import type { Given } from "#control-plane/public/status-pages/settings/fields.ts";
import {
  INCIDENT_MINUTES,
  MOST_HOMEPAGE,
  type PageGroup,
  type PageMonitor,
  type PageSettings,
} from "#control-plane/public/status-pages/settings/page-settings.ts";
import { slugProblem } from "#control-plane/public/status-pages/settings/slug.ts";
import { readLine, readLines } from "#control-plane/core/user-text.ts";

/**
 * Reads the settings of a new page (`current` is null), or applies a change to those of an existing one. Fields that are
 * not given keep their values; monitors that leave the page leave its groups. Monitors are not looked up.
 */
export function readSettings(given: Given, current: PageSettings | null, ownHost: string): Read<PageSettings> {
  const title =
    given.title === undefined || given.title === current?.title
      ? keep(current?.title ?? "")
      : readLine("title", given.title);
  if (!title.ok) return title;
  const slug = readSlug(given.slug, current);
  if (!slug.ok) return slug;
  const description = readOptional(given.description, current?.description, (text) => readLines("description", text));
  if (!description.ok) return description;
  const footer = readOptional(given.footer, current?.footer, (text) => readLines("footer", text));
  if (!footer.ok) return footer;
  const homepage = readOptional(given.homepage_url, current?.homepageUrl, readHomepage);
  if (!homepage.ok) return homepage;
  const accent = readOptional(given.accent_color, current?.accentColor, readColour);
  if (!accent.ok) return accent;
  const logo = readOptional(given.logo, current?.logo, readLogo);
  if (!logo.ok) return logo;
  const domain = readOptional(given.domain, current?.domain, (text) => readDomain(text, ownHost));
  if (!domain.ok) return domain;
  const monitors = given.monitors === undefined ? keep(current?.monitors ?? []) : readMonitors(given.monitors);
  if (!monitors.ok) return monitors;
  const ids = new Set(monitors.value.map(({ id }) => id));
  const groups = given.groups === undefined ? keep(keepGroups(current, ids)) : readGroups(given.groups, ids);
  if (!groups.ok) return groups;
  return keep({
    title: title.value,
    slug: slug.value,
    description: description.value,
    footer: footer.value,
    homepageUrl: homepage.value,
    accentColor: accent.value,
    logo: logo.value,
    isPublic: given.is_public ?? current?.isPublic ?? true,
    domain: domain.value,
    showCauses: given.show_causes ?? current?.showCauses ?? false,
    autoIncidents: given.auto_incidents ?? current?.autoIncidents ?? true,
    autoIncidentsAfterMinutes:
      given.auto_incidents_after_minutes ?? current?.autoIncidentsAfterMinutes ?? INCIDENT_MINUTES.default,
    responseGraph: given.response_graph ?? current?.responseGraph ?? false,
    monitors: monitors.value,
    groups: groups.value,
  });
}

function keep<T>(value: T): Read<T> {
  return { ok: true, value };
}

function readSlug(given: string | undefined, current: PageSettings | null): Read<string> {
  // A word that was reserved later stays the slug of a page that has it.
  if (given === undefined || given === current?.slug) return keep(current?.slug ?? "");
  const problem = slugProblem(given);
  return problem === null ? keep(given) : { ok: false, problem };
}

function readOptional<T>(
  given: string | null | undefined,
  current: T | null | undefined,
  read: (text: string) => Read<T>,
): Read<T | null> {
  if (given === undefined) return keep(current ?? null);
  return given === null ? keep(null) : read(given);
}

/** Reads an address that visitors go to: nothing but a site, so that a link cannot run a script or carry a password. */
function readHomepage(given: string): Read<string> {
  const url = URL.parse(given.trim());
  const isSite = url !== null && ["http:", "https:"].includes(url.protocol) && url.username + url.password === "";
  if (isSite && url.href.length <= MOST_HOMEPAGE) return keep(url.href);
  const message =
    "must be an http or https address such as https://www.example.com/, without a user name, of at most " +
    `${MOST_HOMEPAGE} characters`;
  return refuse("homepage_url", "type", message);
}

/** Reads a colour as #rrggbb. Names and other forms of CSS are not read: programs would have to read them too. */
function readColour(given: string): Read<string> {
  const colour = given.trim().toLowerCase();
  if (/^#[0-9a-f]{6}$/.test(colour)) return keep(colour);
  return refuse("accent_color", "type", "must be a colour such as #0969da: # and six hexadecimal digits");
}

function readMonitors(given: NonNullable<Given["monitors"]>): Read<readonly PageMonitor[]> {
  const monitors: PageMonitor[] = [];
  const seen = new Set<number>();
  for (const [index, { id, name = null }] of given.entries()) {
    if (seen.has(id)) {
      return refuse(`monitors.${index}.id`, "duplicate", "is on the page already");
    }
    seen.add(id);
    const read = name === null ? keep(null) : readLine(`monitors.${index}.name`, name);
    if (!read.ok) return read;
    monitors.push({ id, name: read.value });
  }
  return keep(monitors);
}

function keepGroups(current: PageSettings | null, ids: ReadonlySet<number>): readonly PageGroup[] {
  return (current?.groups ?? []).map(({ name, monitorIds }) => ({
    name,
    monitorIds: monitorIds.filter((id) => ids.has(id)),
  }));
}

function readGroups(given: NonNullable<Given["groups"]>, ids: ReadonlySet<number>): Read<readonly PageGroup[]> {
  const groups: PageGroup[] = [];
  const grouped = new Set<number>();
  for (const [index, { name, monitor_ids: monitorIds }] of given.entries()) {
    const read = readLine(`groups.${index}.name`, name);
    if (!read.ok) return read;
    for (const [place, id] of monitorIds.entries()) {
      const field = `groups.${index}.monitor_ids.${place}`;
      if (!ids.has(id)) return refuse(field, "unknown", "is not in the monitors of the page");
      if (grouped.has(id)) return refuse(field, "duplicate", "is in a group already");
      grouped.add(id);
    }
    groups.push({ name: read.value, monitorIds: [...monitorIds] });
  }
  return keep(groups);
}
