import type { Html } from "#control-plane/core/pages/html.ts";

/** Characters that XML does not allow, also not as references (XML 1.0, section 2.2); with u also lone surrogates. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/**
 * Renders an XML document. Its root is written with the tag for HTML: the escapes of HTML for text and quoted attributes are
 * also those of XML. Characters that XML does not allow are replaced.
 */
export function renderXml(root: Html): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n${String(root).replaceAll(FORBIDDEN, "\u{FFFD}")}`;
}
