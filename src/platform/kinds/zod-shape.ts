/**
 * What kind of schema one is, with what is in it as schemas of zod's main package: `instanceof` alone leaves that open.
 */
import { z } from "zod";

/** An object with named fields, in `shape`. */
export const isObjectSchema = (schema: z.ZodType): schema is z.ZodObject<Record<string, z.ZodType>> =>
  schema instanceof z.ZodObject;

/** A list of `element`. */
export const isArraySchema = (schema: z.ZodType): schema is z.ZodArray<z.ZodType> => schema instanceof z.ZodArray;

/** A free map: any key, values of `valueType`. */
export const isRecordSchema = (schema: z.ZodType): schema is z.ZodRecord<z.ZodString, z.ZodType> =>
  schema instanceof z.ZodRecord;

/** Says of another schema that its value may be left out or be null, or has a default. */
export type WrapperSchema = z.ZodOptional<z.ZodType> | z.ZodNullable<z.ZodType> | z.ZodDefault<z.ZodType>;

/** Its inner schema is `unwrap()`. */
export const isWrapperSchema = (schema: z.ZodType): schema is WrapperSchema =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
