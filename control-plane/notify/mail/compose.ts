import MailComposer from "nodemailer/lib/mail-composer";

/** A file in a mail. */
export interface Attachment {
  /** ASCII. */
  readonly name: string;
  /** Media type. */
  readonly type: string;
  readonly content: Uint8Array;
}

/** A mail to compose. All strings are one line, but for the two bodies. */
interface Mail {
  readonly from: Mailbox;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly date: Date;
  /** With angle brackets, as those of `references`. */
  readonly messageId: string;
  /** Message-IDs under which mail programs group mails, the first as the mail that this one answers; [] for none. */
  readonly references: readonly string[];
  /** Further header fields, ASCII. */
  readonly headers: Readonly<Record<string, string>>;
  readonly attachments: readonly Attachment[];
}

/** A sender with a name. */
interface Mailbox {
  readonly name: string;
  readonly address: string;
}

const NAMED = /^([^<>]{0,200})<([^<>]{3,320})>$/u;

/** Splits a sender into name and address, from the form of the setting. */
export function parseMailbox(text: string): Mailbox {
  const [, name = "", address = text] = NAMED.exec(text) ?? [];
  return { name: name.trim().replaceAll('"', ""), address };
}

/** Composes the message with its header fields (RFC 5322). The same mail gives the same text, but for its boundaries. */
export function composeMail(mail: Mail): Promise<Buffer> {
  const { from, to, references, headers, attachments, ...rest } = mail;
  const composer = new MailComposer({
    ...rest,
    from: { name: from.name, address: from.address },
    to: { name: "", address: to },
    headers: { ...headers },
    ...(references[0] === undefined ? {} : { inReplyTo: references[0], references: [...references] }),
    attachments: attachments.map(({ name, type, content }) => ({
      filename: name,
      contentType: type,
      content: Buffer.from(content),
    })),
    encoding: "quoted-printable",
    newline: "win",
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}
