import { z } from "zod";
import { isArraySchema } from "../../../platform/kinds/zod-shape.ts";
import { Session } from "../../model/sessions/session-wire.ts";
import type { Route } from "../route.ts";

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** The component of an operation's request: `createBrowserPool` → `CreateBrowserPool`. */
export const requestName = ({ operationId }: Route): string => capitalized(operationId);

const isGetter = ({ operationId }: Route): boolean => operationId.startsWith("get");

const answerName = (route: Route): string =>
  isGetter(route) ? route.operationId.slice("get".length) : `${requestName(route)}Answer`;

/**
 * Component names of all answers that are objects of one shape, or of one by their type. The answer of `getX` is named `X` in all operations. Any other
 * answer is named after the first operation that has it, e.g. `CreateApiKeyAnswer`.
 */
export const nameAnswers = (routes: readonly Route[]): Map<z.ZodType, string> => {
  const names = new Map<z.ZodType, string>([[Session, "Session"]]);
  const gettersFirst = routes.toSorted((a, b) => Number(isGetter(b)) - Number(isGetter(a)));
  for (const route of gettersFirst)
    for (const { schema } of Object.values(route.answers)) {
      const shape = schema && isArraySchema(schema) ? schema.element : schema;
      const isNamed = shape instanceof z.ZodObject || shape instanceof z.ZodDiscriminatedUnion;
      if (isNamed && !names.has(shape)) names.set(shape, answerName(route));
    }
  return names;
};
