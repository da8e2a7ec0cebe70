import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** Characters that XML does not allow, also not as references (XML 1.0, section 2.2); with u also lone surrogates. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** Replaces characters that XML does not allow. */
function toXmlText(text: string): string {
  return text.replaceAll(FORBIDDEN, "\u{FFFD}");
}

/**
 * Compiles the template of an XML document. Values are escaped as in pages: the escapes of HTML for text and quoted
 * attributes are also those of XML.
 */
export function compileXml(template: string): (data: object) => string {
  const render = compileTemplate(`<?xml version="1.0" encoding="utf-8"?>\n${template}`);
  return (data) => toXmlText(render(data));
}
