// What the build puts in place of a source file: data that Python exported, and stylesheets.
declare module "*.json" {
  const value: any;
  export default value;
}
declare module "*.css";
