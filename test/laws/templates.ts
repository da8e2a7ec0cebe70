/** What is wrong with the templates of a source file. */
export interface TemplateFault {
  readonly line: number;
  readonly fault: string;
}

/** Marks a value in the static text of a template: no source has this character. */
const VALUE = "\0";

/** A template literal with the tag `html`: its static parts around VALUE, and the expressions of the values. */
interface Template {
  readonly line: number;
  readonly text: string;
  readonly values: readonly string[];
}

/** HTML Living Standard, 13.1.2: void elements, and elements whose end tag can be left out (those that we leave out). */
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
const OPTIONAL_END = /^(?:li|p|td|th|tr|thead|tbody|dt|dd|option)$/;

const TAG = /<(\/?)([a-zA-Z][\w-]*)((?:"[^"]*"|[^"<>])*)>/g;

/** A constant of a module, whose text no request decides. */
const CONSTANT = /^[A-Z][A-Z\d_]*(?:\.[a-z]\w*)?$/;

/** A style that its function makes of colours that it has computed: it has nothing to escape. */
const COMPUTED_STYLE = /^accentStyleOf\(\w+\)$/;

/**
 * Finds what is wrong with the templates of a file: elements that one template opens and another closes, values where
 * `html` does not escape for them (unquoted attributes, <script>, <style>), and texts other than constants of a module that
 * `trusted` takes as HTML.
 */
export function findTemplateFaults(source: string): readonly TemplateFault[] {
  const templates = templatesOf(source).flatMap(({ line, text, values }) =>
    [...balanceFaults(text), ...placeFaults(text, values)].map((fault) => ({ line, fault })),
  );
  const taken = Array.from(source.matchAll(/(?<![\w.]|function )trusted\(([^)]*)\)?/g), ({ index, 1: text = "" }) => ({
    line: lineAt(source, index),
    text: text.trim(),
  })).filter(({ text }) => !CONSTANT.test(text));
  return [
    ...templates,
    ...taken.map(({ line, text }) => ({ line, fault: `trusted(${text}) takes what is no constant` })),
  ];
}

/** Finds the templates of a source, nested ones too. */
export function templatesOf(source: string): readonly Template[] {
  const found: Template[] = [];
  for (const { index } of source.matchAll(/(?<![\w$.`])html`/g)) {
    let text = "";
    const values: string[] = [];
    let at = index + 5;
    while (at < source.length && source[at] !== "`") {
      if (source.startsWith("${", at)) {
        const end = endOfCode(source, at + 2);
        values.push(source.slice(at + 2, end).trim());
        text += VALUE;
        at = end + 1;
      } else if (source[at] === "\\") {
        text += source.slice(at, at + 2);
        at += 2;
      } else text += source[at++];
    }
    found.push({ line: lineAt(source, index), text, values });
  }
  return found;
}

/** Returns where the code of a value ends: the index of its closing brace. */
function endOfCode(source: string, start: number): number {
  let depth = 0;
  for (let at = start; at < source.length; at += 1) {
    const character = source[at];
    if (character === "`") at = endOfTemplate(source, at + 1);
    else if (character === '"' || character === "'") at = endOfString(source, at);
    else if (character === "{") depth += 1;
    else if (character === "}" && depth-- === 0) return at;
  }
  return source.length;
}

function endOfTemplate(source: string, start: number): number {
  for (let at = start; at < source.length; at += 1) {
    if (source[at] === "`") return at;
    if (source[at] === "\\") at += 1;
    else if (source.startsWith("${", at)) at = endOfCode(source, at + 2);
  }
  return source.length;
}

function endOfString(source: string, start: number): number {
  let at = start + 1;
  while (at < source.length && source[at] !== source[start]) at += source[at] === "\\" ? 2 : 1;
  return at;
}

function balanceFaults(text: string): readonly string[] {
  const open: string[] = [];
  for (const [tag, slash, name = "", rest = ""] of text.matchAll(TAG)) {
    if (VOID.test(name) || rest.endsWith("/")) continue;
    if (slash === "") {
      open.push(name);
      continue;
    }
    while (open.length > 0 && open.at(-1) !== name && OPTIONAL_END.test(open.at(-1) ?? "")) open.pop();
    if (open.pop() !== name) return [`${tag} closes what this template did not open`];
  }
  return open.filter((name) => !OPTIONAL_END.test(name)).map((name) => `<${name}> is not closed`);
}

function placeFaults(text: string, values: readonly string[]): readonly string[] {
  let index = 0;
  return Array.from(text).flatMap((character, at, characters) => {
    if (character !== VALUE) return [];
    const value = values[index++] ?? "";
    if (CONSTANT.test(value)) return [];
    const before = characters.slice(Math.max(0, characters.lastIndexOf("<", at)), at).join("");
    if (before === "<style>" && COMPUTED_STYLE.test(value)) return [];
    if (/^<(?:script|style)\b[^>]*>/.test(before)) return [`\${${value}} is in a script or a style`];
    return /^<(?:"[^"]*"|[^"<>])*=$/.test(before) ? [`\${${value}} is in an attribute without quotes`] : [];
  });
}

function lineAt(source: string, index: number): number {
  return source.slice(0, index).split("\n").length;
}
