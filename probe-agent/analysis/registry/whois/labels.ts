import type { WhoisEntry } from "#probe-agent/analysis/registry/whois/lines.ts";
import type { RegistryFormat } from "#probe-agent/analysis/registry/whois/registries.ts";

/** An answer's entries in common labels: the registry's own ones translated, what it writes for nothing left out. */
export function inCommonLabels(entries: readonly WhoisEntry[], format: RegistryFormat | null): readonly WhoisEntry[] {
  if (format === null) return entries;
  const { labels = {}, ignored = [], empty } = format;
  const common = (label: string) => (Object.hasOwn(labels, label) ? labels[label] : undefined) ?? label;
  // "NOT AVAILABLE    NOT AVAILABLE" of two parts is as empty as one.
  const isEmpty = (value: string) => empty !== undefined && /^\W*$/.test(value.toLowerCase().replaceAll(empty, ""));
  return entries
    .filter(({ section }) => !ignored.includes(section))
    .map(({ key, section, values }) => ({
      key: common(key),
      section: common(section),
      // The first value is the field's; those below it do not take its place.
      values: isEmpty(values[0] ?? "") ? [] : values.filter((value) => !isEmpty(value)),
    }));
}
