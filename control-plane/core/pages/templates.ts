import { Eta } from "eta/core";

/**
 * Template engine. `<% code %>` runs code. `<%= value %>` writes a value, escaped for the content of an element or a
 * quoted attribute. No tag writes a value without escaping.
 */
const engine = new Eta({
  autoEscape: true,
  rmWhitespace: true,
  parse: { exec: "", interpolate: "=", raw: "" },
});

/**
 * Constructs that write without escaping: the tag for raw output, and names that the engine gives to a template's code.
 */
const UNESCAPED = /<%[-_]?\s*~|\boutput\(|__eta/;

/**
 * Compiles a template into a function that renders its data, `it`, as HTML. The caller declares the type of the data.
 * Call it once for each template, when its module is loaded. Throws if the template is not well-formed or would write a
 * value without escaping.
 */
export function compileTemplate(template: string): (data: object) => string {
  const found = UNESCAPED.exec(template)?.[0];
  if (found !== undefined)
    throw new Error(`a template must not use ${JSON.stringify(found)}: it writes without escaping`);
  const compiled = engine.compile(template);
  return (data) => compiled.call(engine, data);
}
