import type { Contract } from "#shared/tools/define.ts";
import { fieldsOf, type ToolField } from "#control-plane/surfaces/dashboard/tools/form-fields.ts";

/** What the form of a tool has: the text of each field ("1" or "0" for a checkbox), the locations and the switch. */
export interface TypedCall {
  readonly texts: ReadonlyMap<string, string>;
  /** An expression of locations; empty: one probe of the service's choice. */
  readonly locations: string;
  readonly share: boolean;
}

/** Fields as a form or an address has them. */
interface Given {
  list(name: string): readonly string[];
}

/** Returns a query as fields. */
export function givenInQuery(query: Readonly<Record<string, unknown>>): Given {
  return {
    list(name) {
      const value = Object.hasOwn(query, name) ? query[name] : undefined;
      if (Array.isArray(value)) return value.filter((one) => typeof one === "string");
      return typeof value === "string" ? [value] : [];
    },
  };
}

/** Reads what a form or the address of a tool's page has; what is absent is as in a new form. Pure. */
export function readTyped(contract: Contract, given: Given): TypedCall {
  const texts = fieldsOf(contract).map(({ name, input, initial }): [string, string] => {
    const values = given.list(name);
    // A checkbox comes after a hidden field with the value that it has unchecked.
    const value = values.at(-1);
    if (value === undefined) return [name, initial];
    if (input === "checkbox") return [name, value === "1" || value === "true" ? "1" : "0"];
    // A form ends lines with CR LF; what was typed has LF.
    return [name, value.replaceAll("\r\n", "\n")];
  });
  const places = [...given.list("at"), ...given.list("locations")].map((text) => text.trim());
  return {
    texts: new Map(texts),
    locations: places.filter((text) => text !== "").join(","),
    share: given.list("share").at(-1) === "1",
  };
}

/**
 * Returns a call as the API takes it: names and texts of what differs from a call without it. The API's own parser checks
 * it. Pure.
 */
export function toCall(contract: Contract, { texts, locations, share }: TypedCall): Readonly<Record<string, string>> {
  const given = fieldsOf(contract).flatMap((field): [string, string][] => {
    const text = textOf(field, texts.get(field.name) ?? "");
    return text === "" || text === textOf(field, field.initial) ? [] : [[field.name, text]];
  });
  return Object.fromEntries([
    ...given,
    ...(locations === "" ? [] : [["locations", locations]]),
    ...(share ? [["share", "1"]] : []),
  ]) as Readonly<Record<string, string>>;
}

function textOf({ input, isList }: ToolField, text: string): string {
  if (isList)
    return text
      .split(/[\s,]+/)
      .filter((item) => item !== "")
      .join(",");
  // A message begins and ends as it is.
  return input === "textarea" ? text : text.trim();
}

/** The longest address of a form with its values, in characters: browsers and proxies take it. */
const LONGEST_ADDRESS = 2_000;

/** Writes the address of the form with its values; null if it is too long. Pure. */
export function writeAddress(contract: Contract, typed: TypedCall): string | null {
  const query = new URLSearchParams(toCall(contract, typed)).toString();
  const address = `/app/tools/${contract.name}${query === "" ? "" : `?${query}`}`;
  return address.length > LONGEST_ADDRESS ? null : address;
}
