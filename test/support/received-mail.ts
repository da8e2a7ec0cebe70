/** A mail as its recipient sees it. */
export interface ReceivedMail {
  /** Addresses of the envelope. */
  readonly from: string;
  readonly to: string;
  /** Header fields in their order, unfolded, with names in lower case. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Returns the decoded value of a header field; undefined if there is none. */
  header(name: string): string | undefined;
  /** Decoded text part. */
  readonly text: string;
  /** Decoded HTML part. */
  readonly html: string;
  /** Files, decoded. */
  readonly attachments: readonly { readonly name: string; readonly type: string; readonly content: Buffer }[];
  readonly raw: string;
}

/** Parses a message of RFC 5322 with a text and an HTML part, and files in Base64, as the product sends it. */
export function parseMail(from: string, to: string, raw: string): ReceivedMail {
  const [head, body] = splitOnce(raw, "\r\n\r\n");
  const fields = readFields(head);
  const valueOf = (name: string) => fields.find(([given]) => given === name.toLowerCase())?.[1];
  const parts = readParts(valueOf("content-type") ?? "", body);
  const find = (type: string) => parts.find((part) => part.type.includes(type))?.content ?? "";
  return {
    from,
    to,
    fields,
    header: (name) => {
      const value = valueOf(name);
      return value === undefined ? undefined : decodeWords(value);
    },
    text: find("text/plain").replaceAll("\r\n", "\n"),
    html: find("text/html").replaceAll("\r\n", "\n"),
    attachments: parts.flatMap(({ type, raw: file }) => {
      const name = /\bname="?([^";\s]+)/.exec(type)?.[1];
      return name === undefined
        ? []
        : [{ name, type: type.split(";", 1)[0] ?? "", content: Buffer.from(file, "base64") }];
    }),
    raw,
  };
}

/** Reads the parts of a multipart body, those of parts within parts too (RFC 2046, section 5.1). */
function readParts(
  contentType: string,
  body: string,
): readonly { readonly type: string; readonly content: string; readonly raw: string }[] {
  const boundary = /boundary="([^"]+)"/.exec(contentType)?.[1];
  if (boundary === undefined) {
    return [{ type: contentType.toLowerCase(), content: decodeQuotedPrintable(body), raw: body }];
  }
  return body
    .split(`--${boundary}`)
    .slice(1, -1)
    .flatMap((part) => {
      const [head, content] = splitOnce(part.replace(/^\r\n/, ""), "\r\n\r\n");
      const type = readFields(head).find(([name]) => name === "content-type")?.[1] ?? "";
      return readParts(type, content.replace(/\r\n$/, ""));
    });
}

function splitOnce(text: string, at: string): readonly [string, string] {
  const index = text.indexOf(at);
  return index === -1 ? [text, ""] : [text.slice(0, index), text.slice(index + at.length)];
}

function readFields(head: string): readonly (readonly [string, string])[] {
  return head
    .replaceAll(/\r\n[ \t]+/g, " ")
    .split("\r\n")
    .map((line) => {
      const [name, value] = splitOnce(line, ":");
      return [name.toLowerCase(), value.trim()] as const;
    });
}

/** Decodes encoded words (RFC 2047) in UTF-8. */
function decodeWords(value: string): string {
  const joined = value.replaceAll(/\?=\s+=\?/g, "?==?");
  return joined.replaceAll(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_, encoding: string, text: string) =>
    encoding.toUpperCase() === "B"
      ? Buffer.from(text, "base64").toString()
      : decodeQuotedPrintable(text.replaceAll("_", " ")),
  );
}

function decodeQuotedPrintable(text: string): string {
  const octets = text
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
  return Buffer.from(octets, "latin1").toString();
}
