import type { TypedPage } from "#control-plane/surfaces/dashboard/status-pages/values.ts";
import { STATUS_PAGES } from "#control-plane/surfaces/dashboard/strings/status-pages.ts";
import type { ListedMonitor } from "#control-plane/monitors/overview.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import { MOST_NAME } from "#control-plane/public/status-pages/settings/page-settings.ts";

/** Monitors that can be chosen at once; a form has 1,000 fields at most. */
const MOST_CHOICES = 30;

interface Row {
  readonly id: number;
  readonly place: number;
  /** Name of the monitor. */
  readonly monitor: string;
  readonly name: string;
  readonly group: number | null;
  readonly problem: string | null;
}

const renderRows: (list: {
  readonly rows: readonly Row[];
  readonly groups: readonly string[];
  readonly most: number;
}) => string = compileTemplate(`
<fieldset id="components"><legend>${STATUS_PAGES.components}</legend>
<% if (it.rows.length === 0) { %><p>${STATUS_PAGES.noComponents}</p><% } else { %><p class="faint">${STATUS_PAGES.orderHint}</p><ol class="components">
<% for (const row of it.rows) { %><li><input type="hidden" name="monitor" value="<%= row.id %>">
<b dir="auto"><%= row.monitor %></b>
<% if (row.problem !== null) { %><p class="problem bad" id="p-c<%= row.id %>"><%= row.problem %></p><% } %>
<div class="row"><div class="field place"><label for="o-<%= row.id %>">${STATUS_PAGES.place}</label><input id="o-<%= row.id %>" name="place" inputmode="numeric" maxlength="4" autocomplete="off" value="<%= row.place %>"></div>
<div class="field grow"><label for="n-<%= row.id %>">${STATUS_PAGES.nameOnPage}</label><input id="n-<%= row.id %>" name="name" value="<%= row.name %>" maxlength="<%= it.most %>" autocomplete="off"<% if (row.problem !== null) { %> aria-invalid="true" aria-describedby="p-c<%= row.id %>"<% } %>></div>
<% if (it.groups.length === 0) { %><input type="hidden" name="group" value=""><% } else { %><div class="field"><label for="g-<%= row.id %>">${STATUS_PAGES.group}</label><select id="g-<%= row.id %>" name="group"><option value="">${STATUS_PAGES.noGroup}</option>
<% for (const [index, group] of it.groups.entries()) { %><option value="<%= index %>"<% if (index === row.group) { %> selected<% } %>><%= group %></option><% } %></select></div><% } %>
<button class="danger" name="do" value="remove <%= row.id %>" aria-label="${STATUS_PAGES.remove} <%= row.monitor %>">${STATUS_PAGES.remove}</button></div></li><% } %></ol><% } %></fieldset>
`);

const renderChoices: (list: {
  readonly find: string;
  readonly choices: readonly { readonly id: number; readonly name: string }[];
  readonly rest: string;
}) => string = compileTemplate(`
<fieldset><legend>${STATUS_PAGES.add}</legend><input type="hidden" name="found" value="<%= it.find %>"><div class="row"><div class="field grow"><label for="f-find">${STATUS_PAGES.find}</label><input id="f-find" name="find" value="<%= it.find %>" maxlength="200" autocomplete="off"></div>
<button name="do" value="find">${STATUS_PAGES.search}</button></div>
<% if (it.choices.length === 0) { %><p>${STATUS_PAGES.nothingFound}</p><% } else { %><div class="choices"><% for (const one of it.choices) { %><div class="choice"><input type="checkbox" id="a-<%= one.id %>" name="add" value="<%= one.id %>"><label for="a-<%= one.id %>" dir="auto"><%= one.name %></label></div><% } %></div>
<% if (it.rest !== "") { %><p class="faint"><%= it.rest %></p><% } %><button name="do" value="add">${STATUS_PAGES.addChosen}</button><% } %></fieldset>
`);

const renderGroups: (list: {
  readonly groups: readonly { readonly name: string; readonly problem: string | null }[];
  readonly problem: string | null;
  readonly most: number;
}) => string = compileTemplate(`
<fieldset><legend>${STATUS_PAGES.groups}</legend><p class="faint">${STATUS_PAGES.groupsHint}</p>
<% if (it.problem !== null) { %><p class="problem bad"><%= it.problem %></p><% } %>
<% for (const [index, group] of it.groups.entries()) { %><div class="row"><div class="field place"><label for="gp-<%= index %>">${STATUS_PAGES.place}</label><input id="gp-<%= index %>" name="group_place" inputmode="numeric" maxlength="4" autocomplete="off" value="<%= index + 1 %>"></div>
<div class="field grow"><label for="gn-<%= index %>">${STATUS_PAGES.groupName}</label><% if (group.problem !== null) { %><p class="problem" id="p-g<%= index %>"><%= group.problem %></p><% } %>
<input id="gn-<%= index %>" name="group_name" value="<%= group.name %>" maxlength="<%= it.most %>" autocomplete="off"<% if (group.problem !== null) { %> aria-invalid="true" aria-describedby="p-g<%= index %>"<% } %>></div></div><% } %>
<div class="row"><div class="field grow"><label for="f-new_group">${STATUS_PAGES.newGroup}</label><input id="f-new_group" name="new_group" value="" maxlength="<%= it.most %>" autocomplete="off"></div>
<button name="do" value="group">${STATUS_PAGES.addGroup}</button></div></fieldset>
`);

/** Renders the monitors of a page, those that can be added, and the groups. Problems are by the path of their field. */
export function renderComponents(
  { components, groups }: TypedPage,
  monitors: readonly ListedMonitor[],
  { find, problems }: { readonly find: string; readonly problems: ReadonlyMap<string, string> },
): string {
  const names = new Map(monitors.map(({ id, name }) => [id, name]));
  const shown = new Set(components.map(({ id }) => id));
  const wanted = find.trim().toLowerCase();
  const isWanted = ({ name, url, tags }: ListedMonitor) =>
    [name, url, ...tags].some((text) => text !== null && text.toLowerCase().includes(wanted));
  const found = monitors.filter((monitor) => !shown.has(monitor.id) && (wanted === "" || isWanted(monitor)));
  const choices = found.slice(0, MOST_CHOICES);
  const rows = components.map(({ id, name, group }, index) => ({
    id,
    place: index + 1,
    monitor: names.get(id) ?? `#${id}`,
    name,
    group,
    problem: below(problems, `monitors.${index}`),
  }));
  return [
    renderRows({ rows, groups: groups.map((name) => name.slice(0, MOST_NAME)), most: MOST_NAME }),
    renderChoices({
      find,
      choices,
      rest: found.length > choices.length ? STATUS_PAGES.moreFound(choices.length, found.length) : "",
    }),
    renderGroups({
      groups: groups.map((name, index) => ({ name, problem: below(problems, `groups.${index}`) })),
      problem: problems.get("groups") ?? null,
      most: MOST_NAME,
    }),
  ].join("");
}

/** Returns the first problem of a field or of one below it; null: none. */
function below(problems: ReadonlyMap<string, string>, path: string): string | null {
  return Array.from(problems).find(([name]) => name === path || name.startsWith(`${path}.`))?.[1] ?? null;
}
