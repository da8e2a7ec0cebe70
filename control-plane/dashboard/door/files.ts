import { Busboy } from "@fastify/busboy";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { refuseEncoded } from "#control-plane/http/body.ts";
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

/** Maximum size of such a form, bytes: a picture that is far too large is still refused beside its field. */
const MOST_BYTES = 8_388_608;
/** One file, and as many fields as every other form has. */
const LIMITS = { files: 1, fields: 1_000, parts: 1_001, fieldNameSize: 100, headerPairs: 20, headerSize: 4_096 };
/** Maximum size of a field, bytes: a file of the largest size in base64. */
const MOST_FIELD = 131_072;
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

/** Makes the forms of a scope accept a file too. `mostFileBytes`: a longer file is cut to one byte more. */
export function acceptFiles(scope: FastifyInstance, mostFileBytes: number): void {
  const limits = { ...LIMITS, fieldSize: MOST_FIELD, fileSize: mostFileBytes + 1 };
  scope.addContentTypeParser<Buffer>(
    FILE_FORM,
    { parseAs: "buffer", bodyLimit: MOST_BYTES },
    async (request: FastifyRequest, bytes: Buffer) => {
      const refusal = refuseEncoded(request);
      if (refusal !== null) throw refusal;
      return readFileForm(request.headers["content-type"] ?? "", bytes, limits);
    },
  );
}

/** Parses a form. Rejects with Refusal if it is damaged or has too much of something. */
function readFileForm(type: string, bytes: Buffer, limits: typeof LIMITS): Promise<FileForm> {
  const fields = new Map<string, string[]>();
  const files = new Map<string, Buffer>();
  return new Promise((resolve, reject) => {
    const refuse = (message: string): void => reject(new Refusal("missing_parameter", message));
    let parser: ReturnType<typeof createParser>;
    try {
      parser = createParser(type, limits);
    } catch {
      return refuse("The form cannot be read: its type has no boundary.");
    }
    parser.on("field", (name: string | undefined, value, _isNameCut, isCut) => {
      if (name === undefined) return;
      if (isCut) return refuse(`A field of the form has more than ${MOST_FIELD} bytes.`);
      const values = fields.get(name);
      if (values === undefined) fields.set(name, [value]);
      else values.push(value);
    });
    parser.on("file", (name: string | undefined, stream) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      // The form is damaged: the parser says so.
      stream.on("error", () => undefined);
      stream.on("end", () => {
        const content = Buffer.concat(chunks);
        if (name !== undefined && content.length > 0) files.set(name, content);
      });
    });
    for (const event of ["partsLimit", "filesLimit", "fieldsLimit"] as const) {
      parser.on(event, () => refuse(TOO_MANY));
    }
    parser.on("error", () => refuse("The form cannot be read: it is cut or damaged."));
    parser.on("finish", () => resolve(new FileForm(fields, files)));
    parser.end(bytes);
  });
}

function createParser(type: string, limits: typeof LIMITS) {
  return new Busboy({ headers: { "content-type": type }, limits });
}
