import type { PageView, ShownMonitor } from "#control-plane/public/status-pages/page.ts";

/** Returns all monitors of a page, in its order. */
export function listMonitors({ groups }: PageView): readonly ShownMonitor[] {
  return groups.flatMap(({ monitors }) => monitors);
}

/** Returns the names of some monitors of a page, in the order of the page. */
export function namesOf(view: PageView, monitorIds: readonly number[]): readonly string[] {
  return listMonitors(view)
    .filter(({ id }) => monitorIds.includes(id))
    .map(({ name }) => name);
}
