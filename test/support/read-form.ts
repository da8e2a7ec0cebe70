import { Parser } from "htmlparser2";

/**
 * Returns what a browser sends of the form with this action, as its page was loaded: the values of each field, in order.
 * Fields of a disabled form are read too.
 */
export function readFields(html: string, action: string): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  let isInside = false;
  let text: { readonly name: string; value: string } | null = null;
  let select: { readonly name: string; readonly values: string[]; chosen: string | null } | null = null;
  const add = (name: string, value: string) => fields.set(name, [...(fields.get(name) ?? []), value]);
  const parser = new Parser({
    onopentag(tag, attributes) {
      if (tag === "form") isInside = attributes["action"] === action;
      if (!isInside) return;
      const { name = "", value = "", type = "text" } = attributes;
      if (tag === "input" && (type !== "checkbox" || "checked" in attributes)) add(name, value);
      if (tag === "textarea") text = { name, value: "" };
      if (tag === "select") select = { name, values: [], chosen: null };
      if (tag === "option" && select !== null) {
        select.values.push(value);
        if ("selected" in attributes) select.chosen = value;
      }
    },
    ontext(part) {
      if (text !== null) text.value += part;
    },
    onclosetag(tag) {
      if (tag === "form") isInside = false;
      // HTML, section 13.1.2.5: a line break directly after the tag is no part of the value.
      if (tag === "textarea" && text !== null) add(text.name, text.value.replace(/^\n/, ""));
      if (tag === "textarea") text = null;
      if (tag === "select" && select !== null) add(select.name, select.chosen ?? select.values[0] ?? "");
      if (tag === "select") select = null;
    },
  });
  parser.end(html);
  return fields;
}
