import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { renderZoneInput } from "#control-plane/surfaces/dashboard/layout/choices.ts";
import {
  choiceOf,
  fieldsOf,
  topOf,
  type FormField,
} from "#control-plane/surfaces/dashboard/monitor-form/form-fields.ts";
import {
  isOfSchedule,
  NEXT_RUNS_PATH,
  renderTypedRuns,
} from "#control-plane/surfaces/dashboard/monitor-form/next-runs.ts";
import type { Typed } from "#control-plane/surfaces/dashboard/monitor-form/values.ts";
import { renderSiteForm } from "#control-plane/surfaces/dashboard/monitors/site-form.ts";
import { GROUPS, type Group } from "#control-plane/outages/kinds/form-field.ts";
import { CHECK_TYPES, kindOf, type CheckType } from "#control-plane/outages/kinds/kinds.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** The form of a monitor. */
export interface MonitorForm {
  readonly checkType: CheckType;
  /** null if it is a new one. */
  readonly id: number | null;
  /** What the monitor is called; a new one: empty. */
  readonly name: string;
  readonly typed: Typed;
  /** What is wrong, by the path of the field; "": the form as a whole. */
  readonly problems: ReadonlyMap<string, string>;
  /** Result of the try; null if it was not tried. */
  readonly tried: Html | null;
  readonly now: Date;
  readonly viewer: ViewerTime;
  /** Value of the field `_csrf`. */
  readonly formToken: string;
}

/** Renders the form of a site, and the choice of a kind. */
export function renderKindChoice(formToken: string): Html {
  const kinds = CHECK_TYPES.map(
    (name) =>
      html`<li><a href="/app/monitors/new?kind=${name}"><b>${kindOf(name).label}</b> <span class="faint">${kindOf(name).watches}</span></a></li>`,
  );
  return html`
    <h1>Add a monitor</h1>
    <div class="card">${renderSiteForm(formToken)}</div>
    <h2>Or choose what is checked</h2>
    <ul class="kinds">${kinds}</ul>
    <p><a href="/app/monitors/paste">Paste many addresses at once</a></p>`;
}

/** Renders the form of a monitor: what it watches and who gets notices first, the rest in parts that open. */
export function renderMonitorForm(form: MonitorForm): Html {
  const { checkType, id, problems, tried, formToken } = form;
  const fields = fieldsOf(checkType);
  const named = new Set(fields.map(({ name }) => name));
  const others = Array.from(problems).filter(([name]) => placeOf(name, named) === null);
  // A form with a problem opens with the cursor in the first field that has one.
  const placed = new Set(Array.from(problems.keys(), (name) => placeOf(name, named)));
  const first = GROUPS.flatMap((group) => fields.filter((field) => field.group === group)).find(({ name }) =>
    placed.has(name),
  );
  const problem = others.length > 0 ? others.map(([, message]) => message).join(" ") : first ? BESIDE : null;
  const back = id === null ? { to: "/new", label: "Another kind" } : { to: `/${id}`, label: "Back to the monitor" };
  return html`
    <p class="back"><a href="/app/monitors${back.to}">${back.label}</a></p>
    <h1>${titleOf(form)}</h1>
    ${problem !== null && html`<p class="note bad" role="alert">${problem}</p>`}
    <form class="stack" method="post" action="/app/monitors/${id === null ? "new" : `${id}/edit`}">
      <input type="hidden" name="_csrf" value="${formToken}">
      <input type="hidden" name="check_type" value="${checkType}">
      ${GROUPS.flatMap((group) => renderGroup(group, fields, form, { named, first }) ?? [])}
      ${tried}
      <div class="row">
        ${renderButtons(form, !fields.some(isOfSchedule))}
        <a href="/app/monitors${id !== null && `/${id}`}">Cancel</a>
      </div>
    </form>`;
}

const BESIDE = "Nothing was saved. The reasons are beside the fields.";

/** `canTry`: whether there is anything to try. */
function renderButtons({ tried }: MonitorForm, canTry: boolean): Html {
  if (!canTry)
    return html`
      <button class="primary" name="do" value="save">Save</button>
      <button name="do" value="runs">Show the next runs</button>`;
  if (tried === null)
    return html`
      <button class="primary" name="do" value="try">Try it</button>
      <button name="do" value="save">Save without a try</button>`;
  return html`
    <button class="primary" name="do" value="save">Save</button>
    <button name="do" value="try">Try again</button>`;
}

/** Returns the heading of the form: the kind of a new monitor, or what the monitor is called. */
export function titleOf({ id, checkType, name }: Pick<MonitorForm, "id" | "checkType" | "name">): string {
  return id === null ? `Add a monitor: ${kindOf(checkType).label}` : `Edit ${name}`;
}

const GROUP_WORDS: Readonly<Record<Group, string>> = {
  what: "What is watched",
  who: "Notifications",
  when: "When, and from where",
  expect: "What counts as up",
  request: "What is sent",
  more: "More options",
};

/** Groups that are always open; the others open if something in them was typed or is wrong. */
const OPEN: ReadonlySet<Group> = new Set(["what", "who"]);

/** Returns a part of the form; null: the kind has no fields in it. */
function renderGroup(
  group: Group,
  fields: readonly FormField[],
  form: MonitorForm,
  { named, first }: { readonly named: ReadonlySet<string>; readonly first: FormField | undefined },
): Html | null {
  const { typed, problems } = form;
  const own = fields.filter((field) => field.group === group);
  if (own.length === 0) return null;
  const placed = new Map(Array.from(problems, ([name, message]) => [placeOf(name, named), message]));
  const renderOne = (field: FormField): Html => {
    const [value, problem] = [typed.get(field.name) ?? "", placed.get(field.name) ?? null];
    const shown = { ...field, value, problem, hasFocus: field === first };
    return field.input === "zone" ? renderZoneInput(shown) : renderField(shown);
  };
  const schedule = own.filter(isOfSchedule).map(renderOne);
  const others = own.filter((field) => !isOfSchedule(field)).map(renderOne);
  const stack = html`<div class="stack">${schedule.length > 0 && renderSchedule(schedule, form)}${others}</div>`;
  if (OPEN.has(group)) return html`<fieldset><legend>${GROUP_WORDS[group]}</legend>${stack}</fieldset>`;
  const isOpen = own.some(({ name }) => placed.has(name));
  return html`
    <details class="part"${isOpen && html` open`}><summary>${GROUP_WORDS[group]} <span class="holds">${holdsOf(own, form)}</span></summary>
      ${stack}
    </details>`;
}

/** Renders the fields of a schedule, and below them its next runs, which follow what is typed. What is wrong is beside its field. */
function renderSchedule(fields: readonly Html[], { typed, problems, now, viewer }: MonitorForm): Html {
  const isRefused = Array.from(problems.keys()).some((name) => name.startsWith("heartbeat"));
  return html`
    <div class="stack" data-preview="${NEXT_RUNS_PATH}">
      ${fields}
      <div aria-live="polite">${!isRefused && renderTypedRuns(typed, now, viewer)}</div>
    </div>`;
}

/** Inputs of several lines. */
const LONG: ReadonlySet<FormField["input"]> = new Set(["textarea", "lines", "pairs"]);

/** Returns what a folded part holds: its fields by their labels, with the short values that are set. */
function holdsOf(fields: readonly FormField[], { typed }: Pick<MonitorForm, "typed">): string {
  // Of a condition of several fields, the first one names it.
  const named = fields.filter(
    ({ name }, at) => at === 0 || !name.includes(".") || topOf(fields[at - 1]?.name ?? "") !== topOf(name),
  );
  const parts = named.map(({ name, label, input }) => {
    const value = typed.get(name) ?? "";
    if (value === "" || input === "checkbox" || LONG.has(input)) return label.replace(/ \([a-z]+\)$/, "");
    return `${label}: ${input === "select" ? choiceOf(value) : value}`;
  });
  return parts.join(", ");
}

/** A field with its value and what is wrong with it. */
interface ShownField extends FormField {
  readonly value: string;
  readonly problem: string | null;
  readonly hasFocus: boolean;
}

function renderField(field: ShownField): Html {
  const { name, input, label, hint, problem } = field;
  const id = name.replaceAll(".", "-");
  const isCheckbox = input === "checkbox";
  const labelled = html`<label for="f-${id}">${label}</label>`;
  return html`
    <div class="field">
      ${isCheckbox ? html`<div class="choice">${renderControl(id, field)}${labelled}</div>` : labelled}
      ${hint !== "" && html`<p class="hint" id="h-${id}">${hint}</p>`}
      ${problem !== null && html`<p class="problem" id="p-${id}">${problem}</p>`}
      ${!isCheckbox && renderControl(id, field)}
    </div>`;
}

function renderControl(id: string, { name, input, hint, choices, value, problem, hasFocus }: ShownField): Html {
  const ids = [...(hint === "" ? [] : [`h-${id}`]), ...(problem === null ? [] : [`p-${id}`])];
  const described = ids.length > 0 && html` aria-describedby="${ids.join(" ")}"`;
  if (input === "checkbox")
    return html`<input type="checkbox" id="f-${id}" name="${name}" value="on"${value === "on" && html` checked`}${described}>`;
  if (input === "select")
    return html`
      <select id="f-${id}" name="${name}"${described}>
        ${choices.map((one) => html`<option value="${one}"${one === value && html` selected`}>${choiceOf(one)}</option>`)}
      </select>`;
  const state = html`${described}${problem !== null && html` aria-invalid="true"`}${hasFocus && html` autofocus`}`;
  if (LONG.has(input))
    return html`
      <textarea id="f-${id}" name="${name}" rows="3" maxlength="70000" autocapitalize="none" spellcheck="false"${state}>
        ${value}</textarea>`;
  return html`<input id="f-${id}" name="${name}" value="${value}" maxlength="8200" autocomplete="off" autocapitalize="none" spellcheck="false"${input === "number" && html` inputmode="numeric"`}${state}>`;
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
