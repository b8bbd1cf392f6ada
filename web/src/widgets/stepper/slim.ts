/** A graph no wider than this, in pixels, leaves room for the explanation beside it; stepper.css says from which frame on. */
export const SLIM = 548;
