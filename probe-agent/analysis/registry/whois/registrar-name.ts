import { splitNote } from "#probe-agent/analysis/registry/whois/note.ts";

/** The parts of a registrar's name as printed. */
interface RegistrarName {
  /** The name alone. Null if only an identifier is printed. */
  readonly name: string | null;
  /** Number that the text labels as IANA's, in digits. Null if there is none. */
  readonly ianaId: string | null;
  /**
   * Bare number of up to four digits after the name. Some registries print IANA's number there. Null if there is none.
   */
  readonly behind: string | null;
  /** Telephone number in brackets after the name. Null if there is none. */
  readonly phone: string | null;
}

const MAX_NAME = 300;
const MAX_NOTES = 4;

/**
 * Identifiers: "(R123-LRMS)" and "R66-ASIA" of Afilias' registries, "(EX-123)", "(ua.example)", "(#1234)",
 * "[EXAMPLE-REG]".
 */
const IDENTIFIERS: readonly RegExp[] = [
  /^#?\d{1,9}$/,
  /^r-?\d{1,6}(?:-[a-z]{2,8})?$/i,
  /^[A-Z]{2,8}-\d{1,9}$/,
  /^(?:registrar |iana |pandi )?(?:id|no\.?|number|handle) ?[:=#]? ?[\w.-]{1,40}$/i,
  /^tag ?[:=] ?[\w-]{1,40}$/i,
  /^[a-z]{2}\.[a-z0-9-]{1,40}$/,
];
const IANA = /^iana(?: id| no\.?| number)? ?[:=#]? ?(\d{1,4})$/i;
const PHONE = /^\+\d[\d .-]{5,24}$/;
/** Identifiers without brackets, after a space. */
const TRAILING = /\s(?:r\d{1,6}-[a-z]{2,8}|#\d{2,9})$/i;

/**
 * Splits a registrar's name into its parts. Identifiers, URLs and telephone numbers after the name do not belong to the
 * name.
 */
export function parseRegistrarName(text: string): RegistrarName {
  let bare = text.slice(0, MAX_NAME).trim();
  let ianaId: string | null = null;
  let behind: string | null = null;
  let phone: string | null = null;
  for (let count = 0; count < MAX_NOTES; count += 1) {
    const noted = splitNote(bare, "()") ?? splitNote(bare, "[]");
    const note = noted?.note.trim() ?? "";
    const iana = IANA.exec(note)?.[1] ?? null;
    const isUrl = /^https?:\/\//i.test(note);
    if (noted !== null && (iana !== null || isUrl || PHONE.test(note) || isIdentifier(note))) {
      ianaId ??= iana;
      if (/^\d{1,4}$/.test(note)) behind ??= note;
      if (PHONE.test(note)) phone ??= note;
      bare = noted.bare;
    } else bare = bare.replace(TRAILING, "");
  }
  // A number alone is the key of an entry elsewhere, not a name.
  const isKey = bare === "" || /^#?\d+$/.test(bare);
  return { name: isKey ? null : bare, ianaId, behind, phone };
}

function isIdentifier(note: string): boolean {
  return IDENTIFIERS.some((pattern) => pattern.test(note));
}
