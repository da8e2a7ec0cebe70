import { isDeepStrictEqual } from "node:util";
import { logoType, toDataUri } from "#control-plane/public/status-pages/logos/logo.ts";
import { toId, type Form } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import {
  MOST_GROUPS,
  MOST_MONITORS,
  type ShownPage,
  statusPage,
} from "#control-plane/public/status-pages/settings/resource.ts";
import {
  fieldsIn,
  toFields,
  typedFields,
  type TypedFields,
} from "#control-plane/surfaces/dashboard/layout/resource-form.ts";

/** Maximum length of the place of a row, in characters. */
const LONGEST_PLACE = 10;

/** A monitor of the page, as it was typed. */
interface TypedComponent {
  readonly id: number;
  /** Name on the page; empty: that of the monitor. */
  readonly name: string;
  /** Index of its group; null: none. */
  readonly group: number | null;
}

/** What the form of a status page shows. */
export interface TypedPage extends TypedFields {
  /** A logo that was chosen and is not saved, as a data URI of whatever the file has; null: none was. */
  readonly logo: string | null;
  /** Whether the logo is to be removed. */
  readonly removesLogo: boolean;
  /** In the order of the page: those without a group first. */
  readonly components: readonly TypedComponent[];
  /** Names of the groups in their order. */
  readonly groups: readonly string[];
}

/** What a new form begins with. */
export const NEW_PAGE: TypedPage = {
  ...typedFields(statusPage, null),
  logo: null,
  removesLogo: false,
  components: [],
  groups: [],
};

/** Returns a page as the form shows it; `names` are those of the monitors, which the page follows. Pure. */
export function typedOf(page: ShownPage, names: ReadonlyMap<number, string>): TypedPage {
  const groupOf = new Map(page.groups.flatMap(({ monitor_ids: ids }, index) => ids.map((id) => [id, index] as const)));
  const places = new Map(page.groups.flatMap(({ monitor_ids: ids }) => ids).map((id, index) => [id, index + 1]));
  const placeOf = ({ id }: { readonly id: number }) => places.get(id) ?? 0;
  return {
    ...typedFields(statusPage, page),
    logo: null,
    removesLogo: false,
    components: page.monitors
      .toSorted((one, other) => placeOf(one) - placeOf(other))
      .map(({ id, name }) => ({ id, name: name === names.get(id) ? "" : name, group: groupOf.get(id) ?? null })),
    groups: page.groups.map(({ name }) => name),
  };
}

/**
 * Returns what was typed. Monitors and groups whose number was changed are moved, chosen monitors come last, a group
 * without a name is dissolved, and `do` with "remove <id>" takes a monitor off the page. Of more groups or monitors than a
 * page can have, one too many is kept, which its settings refuse: the form shows every group in every row. Pure.
 */
export function typedIn(form: Form): TypedPage {
  const [names, groups, places] = [form.list("name"), form.list("group"), form.list("place")];
  const groupNames = [...form.list("group_name"), form.text("new_group")];
  const groupPlaces = form.list("group_place");
  const kept = moved(
    groupNames.map((name, index) => ({ name, index })),
    ({ index }) => groupPlaces[index],
  )
    .filter(({ name }) => name.trim() !== "")
    .slice(0, MOST_GROUPS + 1);
  const groupAt = (given = "") => {
    const at = kept.findIndex(({ index }) => String(index) === given);
    return at === -1 ? null : at;
  };
  const idsOf = (name: string) => form.list(name).map((given, index) => ({ id: toId(given) ?? 0, index }));
  const listed = idsOf("monitor");
  const components = [
    ...moved(listed, ({ index }) => places[index]).map(({ id, index }) => ({
      id,
      name: names[index] ?? "",
      group: groupAt(groups[index]),
    })),
    ...idsOf("add").map(({ id }) => ({ id, name: "", group: null })),
  ];
  return {
    ...fieldsIn(statusPage, form),
    logo: logoIn(form),
    removesLogo: form.has("remove_logo"),
    components: components
      // 0: no id was given.
      .filter(({ id }) => id !== 0 && form.text("do") !== `remove ${id}`)
      .slice(0, MOST_MONITORS + 1)
      .toSorted((one, other) => (one.group ?? -1) - (other.group ?? -1)),
    groups: kept.map(({ name }) => name),
  };
}

/** Returns the file that was chosen; else the one that an earlier view of the form kept, unless that is removed. */
function logoIn(form: Form): string | null {
  const file = form.file("logo");
  if (file !== null) return toDataUri(logoType(file) ?? "application/octet-stream", file);
  const kept = form.text("logo_kept");
  return kept === "" || form.has("remove_logo") ? null : kept;
}

/** Returns the body of a creation for the API's own parser, which checks it. Pure. */
export function toBody(typed: TypedPage): Readonly<Record<string, unknown>> {
  const { logo, removesLogo, components, groups } = typed;
  return {
    ...toFields(statusPage, typed),
    ...(logo === null ? {} : { logo }),
    ...(logo === null && removesLogo ? { logo: null } : {}),
    monitors: components.map(({ id, name }) => ({ id, name: name.trim() === "" ? null : name.trim() })),
    groups: groups.map((name, index) => ({
      name: name.trim(),
      monitor_ids: components.filter(({ group }) => group === index).map(({ id }) => id),
    })),
  };
}

/** Returns the body of a change: what differs from the form as it was. Pure. */
export function toChange(typed: TypedPage, before: TypedPage): Readonly<Record<string, unknown>> {
  const old = toBody(before);
  return Object.fromEntries(
    Object.entries(toBody(typed)).filter(([name, value]) => !isDeepStrictEqual(value, old[name])),
  );
}

/** Returns rows in the order of their numbers: one whose number was changed to n is in the n-th place. Pure. */
function moved<T extends { readonly index: number }>(
  rows: readonly T[],
  placeOf: (row: T) => string | undefined,
): readonly T[] {
  const keyOf = (row: T): number => {
    const now = row.index + 1;
    const typed = placeOf(row) ?? String(now);
    const place = typed.length > LONGEST_PLACE ? now : Number(typed);
    if (!Number.isFinite(place) || place === now) return now;
    // Before the row that has this place, or behind it if that row moves up.
    return place < now ? place - 0.5 : place + 0.5;
  };
  return rows.toSorted((one, other) => keyOf(one) - keyOf(other));
}
