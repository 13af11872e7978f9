/** How one resource refers to another of the same project: by id or by name. */
import { z } from "zod";
import { exactlyOneField } from "./document-rules.ts";
import { validations } from "./kind.ts";

/** Names of the service (HTTP-14). */
export const namePattern = /^[a-zA-Z0-9._-]{1,255}$/;

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
