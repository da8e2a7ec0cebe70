import type { TypedPage } from "#control-plane/surfaces/dashboard/status-pages/values.ts";
import type { ListedMonitor } from "#control-plane/monitors/overview.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import { MOST_NAME } from "#control-plane/public/status-pages/settings/resource.ts";

/** Monitors that can be chosen at once; a form has 1,000 fields at most. */
const MOST_CHOICES = 30;

/** Renders the monitors of a page, those that can be added, and the groups. Problems are by the path of their field. */
export function renderComponents(
  { components, groups }: TypedPage,
  monitors: readonly ListedMonitor[],
  { find, problems }: { readonly find: string; readonly problems: ReadonlyMap<string, string> },
): Html {
  const names = new Map(monitors.map(({ id, name }) => [id, name]));
  const shown = new Set(components.map(({ id }) => id));
  const rows = components.map((component, index) =>
    renderRow(component, {
      place: index + 1,
      monitor: names.get(component.id) ?? `#${component.id}`,
      groups,
      problem: below(problems, `monitors.${index}`),
    }),
  );
  const list = html`
    <p class="faint">Monitors without a group come first. To move one, change its number. An empty name is that of the monitor.</p>
    <ol class="components">${rows}</ol>`;
  return html`
    <fieldset id="components"><legend>Monitors of the page</legend>
    ${rows.length === 0 ? html`<p>The page shows no monitors yet.</p>` : list}</fieldset>
    ${renderChoices(
      find,
      monitors.filter(({ id }) => !shown.has(id)),
    )}
    ${renderGroups(groups, problems)}`;
}

function renderRow(
  { id, name, group }: TypedPage["components"][number],
  {
    place,
    monitor,
    groups,
    problem,
  }: {
    readonly place: number;
    /** Name of the monitor. */
    readonly monitor: string;
    readonly groups: readonly string[];
    readonly problem: string | null;
  },
): Html {
  const options = groups.map(
    (title, index) =>
      html`<option value="${index}"${index === group && html` selected`}>${title.slice(0, MOST_NAME)}</option>`,
  );
  return html`
    <li><input type="hidden" name="monitor" value="${id}">
    <b dir="auto">${monitor}</b>
    ${problem !== null && html`<p class="problem bad" id="p-c${id}">${problem}</p>`}
    <div class="row"><div class="field place"><label for="o-${id}">Number</label><input id="o-${id}" name="place" inputmode="numeric" maxlength="4" autocomplete="off" value="${place}"></div>
    <div class="field grow"><label for="n-${id}">Name on the page</label><input id="n-${id}" name="name" value="${name}" maxlength="${MOST_NAME}" autocomplete="off"${problem !== null && html` aria-invalid="true" aria-describedby="p-c${id}"`}></div>
    ${groups.length === 0 ? html`<input type="hidden" name="group" value="">` : html`<div class="field"><label for="g-${id}">Group</label><select id="g-${id}" name="group"><option value="">none</option>${options}</select></div>`}
    <button class="danger" name="do" value="remove ${id}" aria-label="Remove ${monitor}">Remove</button></div></li>`;
}

/** Renders the search among the monitors that the page does not show. */
function renderChoices(find: string, others: readonly ListedMonitor[]): Html {
  const wanted = find.trim().toLowerCase();
  const found = others.filter(({ name, url, tags }) =>
    [name, url, ...tags].some((text) => text !== null && text.toLowerCase().includes(wanted)),
  );
  const choices = found.slice(0, MOST_CHOICES);
  const list = html`
    <div class="choices">${choices.map(({ id, name }) => html`<div class="choice"><input type="checkbox" id="a-${id}" name="add" value="${id}"><label for="a-${id}" dir="auto">${name}</label></div>`)}</div>
    ${found.length > choices.length && html`<p class="faint">${choices.length} of ${found.length.toLocaleString("en")} are shown. Search for the others.</p>`}<button name="do" value="add">Add the chosen ones</button>`;
  return html`
    <fieldset><legend>Add monitors</legend><input type="hidden" name="found" value="${find}"><div class="row"><div class="field grow"><label for="f-find">Name, address or tag</label><input id="f-find" name="find" value="${find}" maxlength="200" autocomplete="off"></div>
    <button name="do" value="find">Search</button></div>
    ${choices.length === 0 ? html`<p>No further monitor was found.</p>` : list}</fieldset>`;
}

function renderGroups(groups: readonly string[], problems: ReadonlyMap<string, string>): Html {
  const problem = problems.get("groups");
  return html`
    <fieldset><legend>Groups</legend><p class="faint">Headings of the page. A group without a name is dissolved; its monitors stay.</p>
    ${problem !== undefined && html`<p class="problem bad">${problem}</p>`}
    ${groups.map((name, index) => renderGroup(name, index, below(problems, `groups.${index}`)))}
    <div class="row"><div class="field grow"><label for="f-new_group">New group</label><input id="f-new_group" name="new_group" value="" maxlength="${MOST_NAME}" autocomplete="off"></div>
    <button name="do" value="group">Add the group</button></div></fieldset>`;
}

function renderGroup(name: string, index: number, problem: string | null): Html {
  return html`
    <div class="row"><div class="field place"><label for="gp-${index}">Number</label><input id="gp-${index}" name="group_place" inputmode="numeric" maxlength="4" autocomplete="off" value="${index + 1}"></div>
    <div class="field grow"><label for="gn-${index}">Name of the group</label>${problem !== null && html`<p class="problem" id="p-g${index}">${problem}</p>`}
    <input id="gn-${index}" name="group_name" value="${name}" maxlength="${MOST_NAME}" autocomplete="off"${problem !== null && html` aria-invalid="true" aria-describedby="p-g${index}"`}></div></div>`;
}

/** Returns the first problem of a field or of one below it; null: none. */
function below(problems: ReadonlyMap<string, string>, path: string): string | null {
  return Array.from(problems).find(([name]) => name === path || name.startsWith(`${path}.`))?.[1] ?? null;
}
