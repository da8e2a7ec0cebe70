/** A family of gauges. Names and help texts are those of prometheus/blackbox_exporter 0.23. */
interface Family {
  readonly name: string;
  /** The two lines before its samples. */
  readonly head: string;
}

/** Labels of one sample. Their order is that of the text. */
export type Labels = Readonly<Record<string, string>>;

/** The metrics of one probe. */
export interface Samples {
  /** Sets a gauge, in place of what the same labels had. */
  set(family: Family, value: number, labels?: Labels): void;
  /** Adds to a gauge, which is 0 at first. */
  add(family: Family, value: number, labels?: Labels): void;
  /** Renders Prometheus' text format 0.0.4: families by name, samples by their labels. */
  render(): string;
}

/** Converts milliseconds to seconds, in whole nanoseconds. */
export function toSeconds(ms: number): number {
  return Math.round(ms * 1e6) / 1e9;
}

/** Defines a family. `help` has no line feed and no backslash. */
export function family(name: string, help: string): Family {
  return { name, head: `# HELP ${name} ${help}\n# TYPE ${name} gauge\n` };
}

/** Creates the empty metrics of a probe. */
export function createSamples(): Samples {
  const families = new Map<string, { readonly head: string; readonly values: Map<string, number> }>();
  const valuesOf = ({ name, head }: Family): Map<string, number> => {
    const known = families.get(name);
    if (known !== undefined) return known.values;
    const values = new Map<string, number>();
    families.set(name, { head, values });
    return values;
  };
  return {
    set: (of, value, labels) => void valuesOf(of).set(renderLabels(labels), value),
    add(of, value, labels) {
      const values = valuesOf(of);
      const key = renderLabels(labels);
      values.set(key, (values.get(key) ?? 0) + value);
    },
    render() {
      let text = "";
      for (const name of [...families.keys()].toSorted()) {
        const { head, values } = families.get(name) ?? { head: "", values: [] };
        text += head;
        const lines = Array.from(values, ([labels, value]) => `${name}${labels} ${formatNumber(value)}\n`);
        text += lines.length === 1 ? lines[0] : lines.toSorted().join("");
      }
      return text;
    },
  };
}

function renderLabels(labels: Labels | undefined): string {
  if (labels === undefined) return "";
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

/** Escapes backslash, quote and line feed: label values can contain any text of a target. */
function escapeLabel(value: string): string {
  if (!/[\\\n"]/.test(value)) return value;
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

/**
 * Formats a number as Go's strconv.FormatFloat(x, 'g', -1, 64), which Prometheus' clients use: the shortest digits, with
 * an exponent of at least two digits below -4 and from 6 on.
 */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const size = Math.abs(value);
  if (size < 1e6 && (size >= 1e-4 || size === 0)) return String(value);
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  return `${digits}e${power < 0 ? "-" : "+"}${Math.abs(power) < 10 ? "0" : ""}${Math.abs(power)}`;
}
