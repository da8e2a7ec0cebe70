import type { Readable } from "node:stream";
import { Busboy } from "@fastify/busboy";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { BODY_LIMIT, LARGEST_BODY, refuseEncoded } from "#control-plane/http/body.ts";
import { Refusal } from "#control-plane/http/errors.ts";

const FORM = "application/x-www-form-urlencoded";
const FILE_FORM = "multipart/form-data";

/** A form with files as received, parsed. */
export class FileForm {
  /** Values by the name of the field, in the order in which they were sent. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  /** Contents of the files by the name of the field; a field in which none was chosen has none. */
  readonly files: ReadonlyMap<string, Buffer>;

  constructor(fields: ReadonlyMap<string, readonly string[]>, files: ReadonlyMap<string, Buffer>) {
    this.fields = fields;
    this.files = files;
  }
}

/** Maximum size of such a form: a picture that is far too large is read past, and refused beside its field. */
const MOST_BYTES = LARGEST_BODY;
/** Bytes that are read before a form has proved by its `_csrf` that it is one of the session. */
const MOST_UNPROVED = 65_536;
/** Maximum length of the Content-Type: a boundary has at most 70 characters (RFC 2046, section 5.1.1). */
const LONGEST_TYPE = 200;
/** One file, and as many fields as every other form has. */
const LIMITS = { files: 1, fields: 1_000, parts: 1_001, fieldNameSize: 100, headerPairs: 20, headerSize: 4_096 };
/** Maximum size of a field, bytes: a file of the largest size in base64. */
const MOST_FIELD = 131_072;
/** Bytes that are parsed at once. What they contain is looked at before the next ones are parsed. */
const PARSED_AT_ONCE = 4_096;
const TOO_MANY = "The form has more than 1,000 fields, or more than one file.";

/** Makes a scope accept the bodies that browsers send with forms alone: its forms answer every other type with 415. */
export function acceptForms(scope: FastifyInstance): void {
  // It would be a form without fields, which is refused as one of another session.
  scope.removeContentTypeParser("application/json");
  scope.setErrorHandler((error: unknown, request) => {
    // The handler of the server answers it.
    throw isOfOtherType(error) ? refuseType(request) : error;
  });
}

function isOfOtherType(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE";
}

function refuseType({ server }: FastifyRequest): Refusal {
  // The server is the scope of the form, and only some forms take files.
  const types = server.hasContentTypeParser(FILE_FORM) ? `${FORM} or ${FILE_FORM}` : FORM;
  return new Refusal("unsupported_media_type", `Send the form as Content-Type: ${types}.`);
}

type Parser = InstanceType<typeof Busboy>;

/** How the forms of a scope are read that may have a file. */
interface FileOptions {
  /** A longer file is cut to one byte more. */
  readonly mostFileBytes: number;
  /** Asks for the `_csrf` of the session of a request. Throws Refusal. */
  readonly prove: (request: FastifyRequest, token: string) => void;
}

/** Makes the forms of a scope accept a file too. `_csrf` must be before the file, and within the first 64 KB. */
export function acceptFiles(scope: FastifyInstance, { mostFileBytes, prove }: FileOptions): void {
  scope.addContentTypeParser(FILE_FORM, async (request: FastifyRequest, body: Readable) => {
    const { "content-type": type = "", "content-length": length } = request.headers;
    const refusal = refuseEncoded(request) ?? (Number(length ?? 0) > MOST_BYTES ? tooLarge(MOST_BYTES) : null);
    if (refusal !== null) throw refusal;
    return readFileForm(createParser(type, mostFileBytes + 1), body, (token) => prove(request, token));
  });
}

/**
 * Reads a form while it arrives, and keeps of it only fields and the beginning of the file. The first refusal ends that:
 * what arrives after it is not parsed. Rejects with Refusal if the form is damaged, has too much of something, or is not
 * proved by its `_csrf` before a file and the end of MOST_UNPROVED bytes.
 */
function readFileForm(parser: Parser, body: Readable, prove: (token: string) => void): Promise<FileForm> {
  const fields = new Map<string, string[]>();
  const files = new Map<string, Buffer>();
  const { promise, resolve, reject } = Promise.withResolvers<FileForm>();
  let isProved = false;
  let isInFile = false;
  let isRefused = false;
  let bytes = 0;
  /** Bytes outside of the file. */
  let ofFields = 0;

  function refuse(error: Error): void {
    isRefused = true;
    body.off("data", take).off("end", end);
    reject(error);
  }
  function requireProof(token: string): void {
    if (isProved || isRefused) return;
    try {
      prove(token);
      isProved = true;
    } catch (error) {
      refuse(error as Error);
    }
  }
  function take(chunk: Buffer): void {
    let isFull = false;
    for (let at = 0; at < chunk.length && !isRefused; at += PARSED_AT_ONCE) {
      const part = chunk.subarray(at, at + PARSED_AT_ONCE);
      bytes += part.length;
      if (!isInFile) ofFields += part.length;
      if (bytes > MOST_BYTES) refuse(tooLarge(MOST_BYTES));
      else if (ofFields > BODY_LIMIT) refuse(tooLarge(BODY_LIMIT));
      else isFull = !parser.write(part);
      if (bytes > MOST_UNPROVED) requireProof("");
    }
    if (!isFull || isRefused) return;
    body.pause();
    parser.once("drain", () => body.resume());
  }
  function end(): void {
    parser.end();
  }

  parser.on("field", (name: string | undefined, value, _isNameCut, isCut) => {
    if (name === undefined) return;
    if (isCut) return refuse(damaged(`A field of the form has more than ${MOST_FIELD} bytes.`));
    if (name === "_csrf") requireProof(value);
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  });
  parser.on("file", (name: string | undefined, stream) => {
    requireProof("");
    isInFile = true;
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    // The form is damaged: the parser says so.
    stream.on("error", () => undefined);
    stream.on("end", () => {
      isInFile = false;
      const content = Buffer.concat(chunks);
      if (name !== undefined && content.length > 0) files.set(name, content);
    });
  });
  for (const event of ["partsLimit", "filesLimit", "fieldsLimit"] as const) {
    parser.on(event, () => refuse(damaged(TOO_MANY)));
  }
  parser.on("error", () => refuse(damaged("The form cannot be read: it is cut or damaged.")));
  parser.on("finish", () => resolve(new FileForm(fields, files)));
  body.on("data", take).on("end", end).on("error", reject);
  return promise;
}

/** Creates the parser of a form. Throws Refusal if its type has no boundary. `fileSize`: a longer file is cut, bytes. */
function createParser(type: string, fileSize: number): Parser {
  try {
    if (type.length > LONGEST_TYPE) throw new RangeError("no browser sends a boundary of this length");
    return new Busboy({ headers: { "content-type": type }, limits: { ...LIMITS, fieldSize: MOST_FIELD, fileSize } });
  } catch {
    throw damaged("The form cannot be read: its type has no boundary, or one of more than 70 characters.");
  }
}

function damaged(message: string): Refusal {
  return new Refusal("missing_parameter", message);
}

function tooLarge(most: number): Refusal {
  return new Refusal("payload_too_large", `The form is larger than ${most} bytes, the limit.`);
}
