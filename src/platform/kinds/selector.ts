/** How one resource refers to another of the same project: by id or by name. */
import { z } from "zod";
import { exactlyOneField, notMatching } from "./document-rules.ts";
import { validations } from "./kind.ts";
import { wireSchema } from "./wire.ts";

/** Names of the service (HTTP-14). */
export const namePattern = /^[a-zA-Z0-9._-]{1,255}$/;

/** The same without a length, which is told apart. */
const nameCharacters = /^[a-zA-Z0-9._-]+$/;

/** Of the form of a generated id (identity.ts), or what a URL takes for a folder. */
export const reservedName = /^([a-z][a-z0-9]{23}|[.][.]?)$/;

/** What to say of it. */
export const reservedMessage =
  "must not have the form of an id (24 lower-case letters and digits, a letter first), and not be . or ..";

/**
 * The same rule for names with other characters: no object is found by the id of another one, and each can be reached.
 */
export const reservesIds = (schema: z.ZodString): z.ZodString => notMatching(schema, reservedName, reservedMessage);

/** The same for free texts, which have no control characters either: no URL and no table could show them. */
export const freeName = (schema: z.ZodString): z.ZodString =>
  notMatching(
    schema,
    new RegExp(String.raw`${reservedName.source}|[\x00-\x1f\x7f-\x9f]`),
    `${reservedMessage}, and have no control characters`,
  );

/** The name that an object of the project is given (HTTP-14, HTTP-33). */
export const objectName = reservesIds(z.string().max(255).regex(nameCharacters));

/** The same on the wire. */
export const nameOnWire = wireSchema(objectName) as z.ZodString;

/** The key of an item in its vault. It is no name of another object, so it may look like an id. */
export const itemKey = notMatching(z.string().max(255).regex(nameCharacters), /^[.][.]?$/, "must not be . or ..");

/** The name of a Secret, as Kubernetes has them. */
export const secretObjectName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/);

/** An id is the `metadata.name` of the object, so 253 characters at most. */
export const maxIdLength = 253;

const exactlyOne = validations({ rule: "has(self.id) != has(self.name)", message: "give exactly one of id and name" });

/** An object of which exactly one of the fields `id` and `name` is given. */
export const selectorOf = <Shape extends { id: z.ZodType; name: z.ZodType }>(shape: Shape) =>
  exactlyOneField(z.object(shape).meta(exactlyOne), "id", "name");

/** Names an object of the project by its id or by its name. */
export const Selector = selectorOf({
  id: z.string().min(1).max(maxIdLength).optional().describe("The id, which is the object's metadata.name."),
  name: z.string().regex(namePattern).optional().describe("The name, unique within the project."),
});
export type Selector = z.infer<typeof Selector>;

/** Names of proxies are free texts, and several proxies may have the same. */
export const ProxySelector = selectorOf({
  id: Selector.shape.id,
  name: z.string().min(1).max(255).optional().describe("The name, which no other proxy may have."),
});
