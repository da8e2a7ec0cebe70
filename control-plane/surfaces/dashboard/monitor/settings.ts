import { choiceOf, fieldsOf, type FormField } from "#control-plane/surfaces/dashboard/monitor-form/form-fields.ts";
import { typedOf } from "#control-plane/surfaces/dashboard/monitor-form/values.ts";
import type { MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** Another monitor of the account. */
interface NamedMonitor {
  readonly id: number;
  readonly name: string;
}

/** Fields that name other monitors. */
const REFERENCES: ReadonlySet<string> = new Set(["depends_on", "composite.monitor_ids"]);

/** Returns the ids of the monitors that the settings of a monitor name. */
export function referencesIn({ depends_on: above, composite }: MonitorPage["monitor"]): readonly number[] {
  return [...(above === null ? [] : [above]), ...(composite?.monitor_ids ?? [])];
}

/** Renders the settings of a monitor as its form writes them, secrets masked; what is empty is left out. */
export function renderSettings({ monitor }: Pick<MonitorPage, "monitor">, named: readonly NamedMonitor[]): Html {
  const fields = fieldsOf(monitor.check_type);
  const typed = typedOf(monitor, fields);
  const rows = fields.flatMap((field) => {
    const text = typed.get(field.name) ?? "";
    if (text === "" && field.input !== "checkbox") return [];
    return html`<tr><th scope="row">${field.label}</th><td class="lines">${renderValue(field, text, named)}</td></tr>`;
  });
  return html`
    <details class="part">
      <summary>Settings</summary>
      <div class="scroll" role="group" tabindex="0" aria-label="Settings">
        <table class="facts cards">
          <thead><tr><th scope="col">Setting</th><th scope="col">Value</th></tr></thead>
          <tbody>${rows}</tbody>
        </table>
      </div>
    </details>`;
}

function renderValue({ name, input }: FormField, text: string, named: readonly NamedMonitor[]): Html | string {
  if (REFERENCES.has(name)) {
    const nameOf = (id: number): string => named.find((one) => one.id === id)?.name ?? String(id);
    const ids = text.split(", ").map(Number);
    return html`${ids.map((id) => html`<a href="/app/monitors/${id}">${nameOf(id)}</a> `)}`;
  }
  if (input === "checkbox") return text === "on" ? "yes" : "no";
  return input === "select" ? choiceOf(text) : text;
}
