import type { WhoisEntry } from "#probe-agent/analysis/registry/whois/lines.ts";
import type { RegistryFormat } from "#probe-agent/analysis/registry/whois/registries.ts";

/** Translates a registry's own labels to common labels, and drops values that mean "no value". */
export function toCommonLabels(entries: readonly WhoisEntry[], format: RegistryFormat | null): readonly WhoisEntry[] {
  if (format === null) return entries;
  const { labels = {}, ignored = [], empty } = format;
  const common = (label: string) => (Object.hasOwn(labels, label) ? labels[label] : undefined) ?? label;
  // "NOT AVAILABLE    NOT AVAILABLE" in two parts is as empty as in one.
  const isEmpty = (value: string) => empty !== undefined && /^\W*$/.test(value.toLowerCase().replaceAll(empty, ""));
  return entries
    .filter(({ section }) => !ignored.includes(section))
    .map(({ key, section, values }) => ({
      key: common(key),
      section: common(section),
      // The first value belongs to the field. Values below it do not replace it.
      values: isEmpty(values[0] ?? "") ? [] : values.filter((value) => !isEmpty(value)),
    }));
}
