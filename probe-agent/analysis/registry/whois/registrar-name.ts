import { splitNote } from "#probe-agent/analysis/registry/whois/note.ts";

/** A registrar's name as printed, taken apart. */
interface RegistrarName {
  /** The name alone; null where only an identifier is printed. */
  readonly name: string | null;
  /** The number that the text calls IANA's, digits. */
  readonly ianaId: string | null;
  /** A bare number of at most four digits behind the name; some registries print IANA's there. */
  readonly behind: string | null;
  /** A telephone number in brackets behind the name. */
  readonly phone: string | null;
}

const MAX_NAME = 300;
const MAX_NOTES = 4;

/** "(R123-LRMS)" and "R66-ASIA" of Afilias' registries, "(EX-123)", "(ua.example)", "(#1234)", "[EXAMPLE-REG]". */
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
/** The same without brackets, behind a space. */
const TRAILING = /\s(?:r\d{1,6}-[a-z]{2,8}|#\d{2,9})$/i;

/** Takes a registrar's name apart: identifiers, addresses and telephone numbers behind it are not part of it. */
export function registrarNameOf(text: string): RegistrarName {
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
