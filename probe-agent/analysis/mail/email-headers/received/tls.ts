/** TLS session as a Received field records it. */
export interface ReceivedTls {
  /** E.g. TLSv1.3; null if only the name of the protocol indicates TLS. */
  readonly version: string | null;
  /** Cipher suite as the server names it. */
  readonly cipher: string | null;
  /** Strength of the encryption in bits, as the server states it. */
  readonly bits: number | null;
}

const MAX_COMMENT = 1024;
// Protocols with TLS: RFC 3848, RFC 6531 section 4.3.
const SECURE_PROTOCOL = /^(?:utf8)?(?:esmtp|lmtp|smtp)s(?:a)?$/i;

/** Forms of comments: Postfix and Sendmail; Gmail and Exchange; Exim. */
const FORMS: readonly RegExp[] = [
  /\busing (?<version>TLSv?[\d.]+|SSLv?\d)(?: with cipher (?<cipher>[\w-]{3,64})(?: \((?<bits>\d{2,4})\/)?)?/i,
  /\bversion=(?<version>(?:TLS|SSL)[\w.]{1,8})[, ]{1,3}cipher=(?<cipher>[\w-]{3,64})(?:[, ]{1,3}bits=(?<bits>\d{2,4}))?/i,
  /^(?<version>(?:TLS|SSL)v?\d(?:\.\d)?)(?::(?<cipher>[\w-]{3,64})(?::(?<bits>\d{2,4}))?)?$/i,
];

/** Reads TLS from the comments and the protocol. Null if the field records none, although TLS may have been used. */
export function readTls(
  protocol: string | null,
  withWords: readonly string[],
  comments: readonly string[],
): ReceivedTls | null {
  for (const comment of comments) {
    const short = comment.slice(0, MAX_COMMENT);
    for (const form of FORMS) {
      const groups = form.exec(short)?.groups;
      if (groups === undefined) continue;
      const bits = groups["bits"];
      return {
        version: versionName(groups["version"] ?? ""),
        cipher: groups["cipher"] ?? eximCipher(withWords),
        bits: bits === undefined ? null : Number(bits),
      };
    }
  }
  const isIndicated =
    SECURE_PROTOCOL.test(protocol ?? "") || comments.some((comment) => /^(?:TLS|encrypted)$/i.test(comment.trim()));
  return isIndicated ? { version: null, cipher: eximCipher(withWords), bits: null } : null;
}

/** Reads the suite from Exim's "with esmtps (TLS1.3) tls TLS_AES_256_GCM_SHA384". */
function eximCipher(words: readonly string[]): string | null {
  const at = words.findIndex((word) => word.toLowerCase() === "tls");
  const suite = at < 0 ? undefined : words[at + 1];
  return suite === undefined || !/^[\w-]{3,64}$/.test(suite) ? null : suite;
}

/** Normalizes the name of a version. TLS1_3, TLS1.3 and TLSv1.3 are equal. */
function versionName(written: string): string {
  const found = /^(TLS|SSL)v?(\d)(?:[._](\d))?$/i.exec(written);
  if (found === null) return written;
  const [, family = "", major = "", minor] = found;
  return `${family.toUpperCase()}v${major}${minor === undefined ? "" : `.${minor}`}`;
}
