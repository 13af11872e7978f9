/** The path of the operation in `empty-route.ts`. */
export const emptyPath = "/bench/empty";
