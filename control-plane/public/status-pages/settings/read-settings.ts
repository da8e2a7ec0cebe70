import { refuse, type Read } from "#shared/schema/problem.ts";
import { readLine } from "#control-plane/core/user-text.ts";
import { readStored } from "#control-plane/http/resource.ts";
import { readLogo } from "#control-plane/public/status-pages/logos/logo.ts";
import type {
  PageGroup,
  PageMonitor,
  PageSettings,
} from "#control-plane/public/status-pages/settings/page-settings.ts";
import { type Given, statusPage } from "#control-plane/public/status-pages/settings/resource.ts";

/**
 * Reads the settings of a new page (`current` is null), or applies a change to those of an existing one. Fields that are
 * not given keep their values; monitors that leave the page leave its groups. Monitors are not looked up. `ownHost` is the
 * host of the service itself.
 */
export function readSettings(given: Given, current: PageSettings | null, ownHost: string): Read<PageSettings> {
  const fields = readStored(statusPage, given, current);
  if (!fields.ok) return fields;
  if (fields.value.domain === ownHost && current?.domain !== ownHost) {
    return refuse("domain", "enum", "is the host name of this service; use one of your own");
  }
  const logo = given.logo === undefined ? keep(current?.logo ?? null) : readLogoOrNone(given.logo);
  if (!logo.ok) return logo;
  const monitors = given.monitors === undefined ? keep(current?.monitors ?? []) : readMonitors(given.monitors);
  if (!monitors.ok) return monitors;
  const ids = new Set(monitors.value.map(({ id }) => id));
  const groups = given.groups === undefined ? keep(keepGroups(current, ids)) : readGroups(given.groups, ids);
  if (!groups.ok) return groups;
  return keep({ ...fields.value, logo: logo.value, monitors: monitors.value, groups: groups.value });
}

function keep<T>(value: T): Read<T> {
  return { ok: true, value };
}

function readLogoOrNone(given: string | null): Read<PageSettings["logo"]> {
  return given === null ? keep(null) : readLogo(given);
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
