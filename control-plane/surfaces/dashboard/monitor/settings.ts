import { fieldsOf } from "#control-plane/surfaces/dashboard/monitor-form/form-fields.ts";
import { typedOf } from "#control-plane/surfaces/dashboard/monitor-form/values.ts";
import type { MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { KNOWN } from "#control-plane/surfaces/dashboard/strings/monitor.ts";
import { FIELD_WORDS, FORM } from "#control-plane/surfaces/dashboard/strings/monitor-form.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** Another monitor of the account. */
interface NamedMonitor {
  readonly id: number;
  readonly name: string;
}

const render: (settings: {
  readonly rows: readonly {
    readonly label: string;
    readonly text: string;
    readonly monitors: readonly NamedMonitor[];
  }[];
}) => string = compileTemplate(`
<details class="part"><summary>${KNOWN.settings}</summary><div class="scroll" role="group" tabindex="0" aria-label="${KNOWN.settings}"><table class="facts cards">
<thead><tr><th scope="col">${KNOWN.field}</th><th scope="col">${KNOWN.value}</th></tr></thead><tbody>
<% for (const row of it.rows) { %><tr><th scope="row"><%= row.label %></th><td class="lines"><%= row.text %><% for (const one of row.monitors) { %><a href="/app/monitors/<%= one.id %>"><%= one.name %></a> <% } %></td></tr><% } %>
</tbody></table></div></details>
`);

/** Fields that name other monitors. */
const REFERENCES: ReadonlySet<string> = new Set(["depends_on", "composite.monitor_ids"]);

/** Returns the ids of the monitors that the settings of a monitor name. */
export function referencesIn({ depends_on: above, composite }: MonitorPage["monitor"]): readonly number[] {
  return [...(above === null ? [] : [above]), ...(composite?.monitor_ids ?? [])];
}

/** Renders the settings of a monitor as its form writes them, secrets masked; what is empty is left out. */
export function renderSettings({ monitor }: Pick<MonitorPage, "monitor">, named: readonly NamedMonitor[]): string {
  const fields = fieldsOf(monitor.check_type);
  const typed = typedOf(monitor, fields);
  const rows = fields.flatMap(({ name, input }) => {
    const text = typed.get(name) ?? "";
    if (text === "" && input !== "checkbox") return [];
    const { label } = FIELD_WORDS[name === "url" ? `url ${monitor.check_type}` : name] ??
      FIELD_WORDS[name] ?? { label: name };
    if (REFERENCES.has(name)) {
      const ids = text.split(", ").map(Number);
      const monitors = ids.map((id) => named.find((one) => one.id === id) ?? { id, name: String(id) });
      return [{ label, text: "", monitors }];
    }
    const yesOrNo = text === "on" ? KNOWN.yes : KNOWN.no;
    const shown = input === "checkbox" ? yesOrNo : input === "select" ? (FORM.choices[text] ?? text) : text;
    return [{ label, text: shown, monitors: [] }];
  });
  return render({ rows });
}
