import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { renderZoneInput } from "#control-plane/surfaces/dashboard/frame/choices.ts";
import {
  fieldsOf,
  GROUPS,
  valuesOf,
  type FormField,
  type Group,
} from "#control-plane/surfaces/dashboard/monitor-form/form-fields.ts";
import {
  isOfSchedule,
  NEXT_RUNS_PATH,
  renderTypedRuns,
} from "#control-plane/surfaces/dashboard/monitor-form/next-runs.ts";
import { topOf, type Typed } from "#control-plane/surfaces/dashboard/monitor-form/values.ts";
import { renderSiteForm } from "#control-plane/surfaces/dashboard/monitors/site-form.ts";
import { KIND_WORDS } from "#control-plane/surfaces/dashboard/monitors/words.ts";
import { FIELD_WORDS, FORM } from "#control-plane/surfaces/dashboard/strings/monitor-form.ts";
import { MONITOR } from "#control-plane/surfaces/dashboard/strings/monitor.ts";
import { MONITORS } from "#control-plane/surfaces/dashboard/strings/monitors.ts";
import { CHECK_TYPES, kindOf, type CheckType } from "#control-plane/outages/kinds/kinds.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** The form of a monitor. */
export interface MonitorForm {
  readonly checkType: CheckType;
  /** null: it is a new one. */
  readonly id: number | null;
  /** What the monitor is called; a new one: empty. */
  readonly name: string;
  readonly typed: Typed;
  /** What is wrong, by the path of the field; "": the form as a whole. */
  readonly problems: ReadonlyMap<string, string>;
  /** Result of the try, as rendered; empty: it was not tried. */
  readonly tried: string;
  readonly now: Date;
  readonly viewer: ViewerTime;
  /** Value of the field `_csrf`. */
  readonly formToken: string;
}

const renderKinds: (page: {
  readonly kinds: readonly { readonly name: string; readonly word: string; readonly watches: string }[];
}) => string = compileTemplate(`
<h2>${FORM.choose}</h2><ul class="kinds">
<% for (const kind of it.kinds) { %><li><a href="/app/monitors/new?kind=<%= kind.name %>"><b><%= kind.word %></b> <span class="faint"><%= kind.watches %></span></a></li><% } %>
</ul><p><a href="/app/monitors/paste">${MONITORS.pasteMany}</a></p>
`);

/** Renders the form of a site, and the choice of a kind. */
export function renderKindChoice(formToken: string): string {
  const site = renderSiteForm({ formToken, hasFocus: true });
  const kinds = CHECK_TYPES.map((name) => ({ name, word: KIND_WORDS[name], watches: kindOf(name).watches }));
  return `<h1>${FORM.title}</h1><div class="card">${site}</div>${renderKinds({ kinds })}`;
}

const renderTop: (top: {
  readonly title: string;
  readonly back: string;
  readonly backTo: string;
  readonly problem: string | null;
  readonly action: string;
  readonly kind: string;
  readonly formToken: string;
}) => string = compileTemplate(`
<p class="back"><a href="<%= it.back %>"><%= it.backTo %></a></p><h1><%= it.title %></h1>
<% if (it.problem !== null) { %><p class="note bad" role="alert"><%= it.problem %></p><% } %>
<form class="stack" method="post" action="<%= it.action %>"><input type="hidden" name="_csrf" value="<%= it.formToken %>">
<input type="hidden" name="check_type" value="<%= it.kind %>">
`);

const renderEnd: (end: {
  readonly isTried: boolean;
  /** Whether there is anything to try. */
  readonly canTry: boolean;
  readonly cancel: string;
}) => string = compileTemplate(`
<div class="row"><% if (!it.canTry) { %><button class="primary" name="do" value="save">${FORM.save}</button>
<button name="do" value="runs">${FORM.showRuns}</button>
<% } else if (!it.isTried) { %><button class="primary" name="do" value="try">${FORM.try}</button>
<button name="do" value="save">${FORM.saveUntried}</button>
<% } else { %><button class="primary" name="do" value="save">${FORM.save}</button>
<button name="do" value="try">${FORM.tryAgain}</button><% } %>
<a href="<%= it.cancel %>">${FORM.cancel}</a></div></form>
`);

const renderField: (field: Shown) => string = compileTemplate(`
<% if (it.input === "checkbox") { %>
<div class="field"><div class="choice"><input type="checkbox" id="f-<%= it.id %>" name="<%= it.name %>" value="on"<% if (it.value === "on") { %> checked<% } %><% if (it.described !== "") { %> aria-describedby="<%= it.described %>"<% } %>>
<label for="f-<%= it.id %>"><%= it.label %></label></div>
<% } else { %>
<div class="field"><label for="f-<%= it.id %>"><%= it.label %></label>
<% } %>
<% if (it.hint !== "") { %><p class="hint" id="h-<%= it.id %>"><%= it.hint %></p><% } %>
<% if (it.problem !== null) { %><p class="problem" id="p-<%= it.id %>"><%= it.problem %></p><% } %>
<% if (it.input === "select") { %>
<select id="f-<%= it.id %>" name="<%= it.name %>"<% if (it.described !== "") { %> aria-describedby="<%= it.described %>"<% } %>><% for (const choice of it.choices) { %><option value="<%= choice.value %>"<% if (choice.value === it.value) { %> selected<% } %>><%= choice.label %></option><% } %></select>
<% } else if (it.isLong) { %>
<textarea id="f-<%= it.id %>" name="<%= it.name %>" rows="3" maxlength="70000" autocapitalize="none" spellcheck="false"<% if (it.described !== "") { %> aria-describedby="<%= it.described %>"<% } %><% if (it.problem !== null) { %> aria-invalid="true"<% } %><% if (it.hasFocus) { %> autofocus<% } %>>
<%= it.value %></textarea>
<% } else if (it.input !== "checkbox") { %>
<input id="f-<%= it.id %>" name="<%= it.name %>" value="<%= it.value %>" maxlength="8200" autocomplete="off" autocapitalize="none" spellcheck="false"<% if (it.input === "number") { %> inputmode="numeric"<% } %><% if (it.described !== "") { %> aria-describedby="<%= it.described %>"<% } %><% if (it.problem !== null) { %> aria-invalid="true"<% } %><% if (it.hasFocus) { %> autofocus<% } %>>
<% } %></div>
`);

interface Shown {
  readonly id: string;
  readonly name: string;
  readonly input: FormField["input"];
  readonly isLong: boolean;
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly problem: string | null;
  readonly described: string;
  readonly hasFocus: boolean;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
}

/** Renders the form of a monitor: what it watches and who gets notices first, the rest in parts that open. */
export function renderMonitorForm(form: MonitorForm): string {
  const { checkType, id, problems, tried, formToken } = form;
  const fields = fieldsOf(checkType).filter(({ input }) => input !== "ignored");
  const named = new Set(fields.map(({ name }) => name));
  const others = Array.from(problems).filter(([name]) => placeOf(name, named) === null);
  // A form with a problem opens with the cursor in the first field that has one.
  const placed = new Set(Array.from(problems.keys(), (name) => placeOf(name, named)));
  const first = GROUPS.flatMap((group) => fields.filter((field) => field.group === group)).find(({ name }) =>
    placed.has(name),
  );
  const action = id === null ? "/app/monitors/new" : `/app/monitors/${id}/edit`;
  const groups = GROUPS.map((group) => renderGroup(group, fields, form, { named, first })).join("");
  return [
    renderTop({
      title: titleOf(form),
      back: id === null ? "/app/monitors/new" : `/app/monitors/${id}`,
      backTo: id === null ? FORM.otherKind : MONITOR.one,
      problem: others.length > 0 ? others.map(([, message]) => message).join(" ") : first ? FORM.problems : null,
      action,
      kind: checkType,
      formToken,
    }),
    groups,
    tried,
    renderEnd({
      isTried: tried !== "",
      canTry: !fields.some(isOfSchedule),
      cancel: id === null ? "/app/monitors" : `/app/monitors/${id}`,
    }),
  ].join("");
}

/** Returns the heading of the form: the kind of a new monitor, or what the monitor is called. */
export function titleOf({ id, checkType, name }: Pick<MonitorForm, "id" | "checkType" | "name">): string {
  return id === null ? `${FORM.title}: ${KIND_WORDS[checkType]}` : `${FORM.editTitle} ${name}`;
}

/** Groups that are always open; the others open if something in them was typed or is wrong. */
const OPEN: ReadonlySet<Group> = new Set(["what", "who"]);

function renderGroup(
  group: Group,
  fields: readonly FormField[],
  form: MonitorForm,
  { named, first }: { readonly named: ReadonlySet<string>; readonly first: FormField | undefined },
): string {
  const { checkType, typed, problems } = form;
  const own = fields.filter((field) => field.group === group);
  if (own.length === 0) return "";
  const placed = new Map(Array.from(problems, ([name, message]) => [placeOf(name, named), message]));
  const renderOne = (field: FormField): string => {
    const value = typed.get(field.name) ?? "";
    const shown = { ...showField(field, checkType, value, placed.get(field.name) ?? null), hasFocus: field === first };
    return field.input === "zone" ? renderZoneInput(shown) : renderField(shown);
  };
  const schedule = own.filter(isOfSchedule).map(renderOne);
  const shown = [
    ...(schedule.length === 0 ? [] : [renderSchedule(schedule, form)]),
    ...own.filter((field) => !isOfSchedule(field)).map(renderOne),
  ];
  const legend = FORM.groups[group];
  if (OPEN.has(group))
    return `<fieldset><legend>${legend}</legend><div class="stack">${shown.join("")}</div></fieldset>`;
  const isOpen = own.some(({ name }) => placed.has(name));
  return `<details class="part"${isOpen ? " open" : ""}>${renderSummary({ legend, holds: holdsOf(own, { typed, checkType }) })}<div class="stack">${shown.join("")}</div></details>`;
}

/** Renders the fields of a schedule, and below them its next runs, which follow what is typed. What is wrong is beside its field. */
function renderSchedule(fields: readonly string[], { typed, problems, now, viewer }: MonitorForm): string {
  const isRefused = Array.from(problems.keys()).some((name) => name.startsWith("heartbeat"));
  const runs = isRefused ? "" : renderTypedRuns(typed, now, viewer);
  const top = `<div class="stack" data-preview="${NEXT_RUNS_PATH}">`;
  return `${top}${fields.join("")}<div aria-live="polite">${runs}</div></div>`;
}

const renderSummary: (part: { readonly legend: string; readonly holds: string }) => string = compileTemplate(
  `<summary><%= it.legend %> <span class="holds"><%= it.holds %></span></summary>`,
);

/** Returns what a folded part holds: its fields by their labels, with the short values that are set. */
function holdsOf(fields: readonly FormField[], { typed, checkType }: Pick<MonitorForm, "typed" | "checkType">): string {
  // Of a condition of several fields, the first one names it.
  const named = fields.filter(
    ({ name }, at) => at === 0 || !name.includes(".") || topOf(fields[at - 1]?.name ?? "") !== topOf(name),
  );
  const parts = named.map((field) => {
    const { label, value, isLong, choices } = showField(field, checkType, typed.get(field.name) ?? "", null);
    const short = label.replace(/ \([a-z]+\)$/, "");
    const isShown = value !== "" && field.input !== "checkbox" && !isLong;
    return isShown ? `${label}: ${choices.find((one) => one.value === value)?.label ?? value}` : short;
  });
  return parts.join(", ");
}

function showField(
  { name, input }: FormField,
  checkType: CheckType,
  value: string,
  problem: string | null,
): Omit<Shown, "hasFocus"> {
  const { label, hint = "" } = FIELD_WORDS[name === "url" ? `url ${checkType}` : name] ??
    FIELD_WORDS[name] ?? { label: name };
  const id = name.replaceAll(".", "-");
  const described = [...(hint === "" ? [] : [`h-${id}`]), ...(problem === null ? [] : [`p-${id}`])].join(" ");
  const isLong = input === "textarea" || input === "lines" || input === "pairs";
  const choices =
    input === "select" ? valuesOf(name).map((one) => ({ value: one, label: FORM.choices[one] ?? one })) : [];
  return { id, name, input, isLong, label, hint, value, problem, described, choices };
}

/** Returns the field beside which a problem stands: the one that it names, or the one that holds it; null: none. */
function placeOf(problem: string, named: ReadonlySet<string>): string | null {
  for (let path = problem; path !== ""; path = path.slice(0, Math.max(0, path.lastIndexOf(".")))) {
    if (named.has(path)) return path;
  }
  return (
    Array.from(named).find((name) => name.startsWith(`${problem}.`)) ??
    (problem === "expected_code" ? "expected_codes" : null)
  );
}
