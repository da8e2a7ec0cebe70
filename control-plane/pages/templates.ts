import { Eta } from "eta/core";

/**
 * `<% code %>` runs, `<%= value %>` writes a value escaped for an element's content or a quoted attribute. There is no tag
 * that writes a value as it is.
 */
const engine = new Eta({
  autoEscape: true,
  rmWhitespace: true,
  parse: { exec: "", interpolate: "=", raw: "" },
});

/** What writes without escaping: the tag for raw output, and names that the engine gives to the code of a template. */
const UNESCAPED = /<%[-_]?\s*~|\boutput\(|__eta/;

/**
 * Compiles a template into a function from its data, `it`, to HTML; the caller names the type of the data. Call it once for each template, when its module is
 * loaded. Throws where the template is not well-formed, or would write a value unescaped.
 */
export function compileTemplate(template: string): (data: object) => string {
  const found = UNESCAPED.exec(template)?.[0];
  if (found !== undefined)
    throw new Error(`a template must not use ${JSON.stringify(found)}: it writes without escaping`);
  const compiled = engine.compile(template);
  return (data) => compiled.call(engine, data);
}
