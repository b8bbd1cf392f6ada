/* One training step of the scalar GPT in plain C: what a careful programmer writes by hand, gradients included.
 *
 * The model is that of examples/gpt.py: one layer, no biases, the same order of parameters. Every loop is written out as
 * one would on paper; the compiler (gcc -O3 -march=native) does the rest. float64 throughout.
 */

#include <math.h>
#include <string.h>

enum { V = 27, W = 16, H = 4, S = W / H, B = 16, F = 4 * W };

/* Where each matrix begins among the parameters. */
enum {
    TOKEN = 0,
    POSITION = TOKEN + V * W,
    QUERY = POSITION + B * W,
    KEY = QUERY + W * W,
    VALUE = KEY + W * W,
    MIX = VALUE + W * W,
    WIDEN = MIX + W * W,
    NARROW = WIDEN + F * W,
    HEAD = NARROW + W * F,
    COUNT = HEAD + V * W
};

int parameter_count(void) { return COUNT; }

/* y = M x */
static void times(const double *m, const double *x, double *y, int rows, int columns) {
    for (int r = 0; r < rows; r++) {
        double sum = 0.0;
        for (int c = 0; c < columns; c++) sum += m[r * columns + c] * x[c];
        y[r] = sum;
    }
}

/* From dy: dM += dy xᵀ and dx += Mᵀ dy. */
static void times_back(const double *m, const double *x, const double *dy, double *dm, double *dx, int rows, int columns) {
    for (int r = 0; r < rows; r++) {
        double g = dy[r];
        for (int c = 0; c < columns; c++) {
            dm[r * columns + c] += g * x[c];
            dx[c] += g * m[r * columns + c];
        }
    }
}

/* y = x scaled so that the mean of its squares is 1; gives the scale. */
static double normalised(const double *x, double *y) {
    double squares = 0.0;
    for (int i = 0; i < W; i++) squares += x[i] * x[i];
    double scale = 1.0 / sqrt(squares / W + 1e-5);
    for (int i = 0; i < W; i++) y[i] = x[i] * scale;
    return scale;
}

static void normalised_back(const double *x, double scale, const double *dy, double *dx) {
    double dot = 0.0;
    for (int i = 0; i < W; i++) dot += dy[i] * x[i];
    double shared = dot * scale * scale * scale / W;
    for (int i = 0; i < W; i++) dx[i] += dy[i] * scale - shared * x[i];
}

/* In place; gives nothing but shares of 1. */
static void softmax(double *x, int n) {
    double top = x[0], sum = 0.0;
    for (int i = 1; i < n; i++) top = x[i] > top ? x[i] : top;
    for (int i = 0; i < n; i++) sum += x[i] = exp(x[i] - top);
    for (int i = 0; i < n; i++) x[i] /= sum;
}

/* What the way forward leaves for the way back. */
typedef struct {
    double sum[W], x0[W], looking[W], q[W], k[W], v[W], share[H][B], heard[W], x1[W], n1[W], hidden[F], x2[W], n2[W];
    double scale0, scale_looking, scale1, scale2, chance[V];
} Place;

static Place at[B];

static double forward(const double *p, const int *tokens, int n) {
    double surprise = 0.0;
    for (int t = 0; t < n; t++) {
        Place *a = &at[t];
        for (int i = 0; i < W; i++) a->sum[i] = p[TOKEN + tokens[t] * W + i] + p[POSITION + t * W + i];
        a->scale0 = normalised(a->sum, a->x0);
        a->scale_looking = normalised(a->x0, a->looking);
        times(p + QUERY, a->looking, a->q, W, W);
        times(p + KEY, a->looking, a->k, W, W);
        times(p + VALUE, a->looking, a->v, W, W);
        for (int h = 0; h < H; h++) {
            for (int s = 0; s <= t; s++) {
                double fit = 0.0;
                for (int i = h * S; i < (h + 1) * S; i++) fit += a->q[i] * at[s].k[i];
                a->share[h][s] = fit / sqrt(S);
            }
            softmax(a->share[h], t + 1);
            for (int i = h * S; i < (h + 1) * S; i++) {
                a->heard[i] = 0.0;
                for (int s = 0; s <= t; s++) a->heard[i] += a->share[h][s] * at[s].v[i];
            }
        }
        times(p + MIX, a->heard, a->x1, W, W);
        for (int i = 0; i < W; i++) a->x1[i] += a->x0[i];
        a->scale1 = normalised(a->x1, a->n1);
        times(p + WIDEN, a->n1, a->hidden, F, W);
        for (int i = 0; i < F; i++) a->hidden[i] = a->hidden[i] > 0.0 ? a->hidden[i] : 0.0;
        times(p + NARROW, a->hidden, a->x2, W, F);
        for (int i = 0; i < W; i++) a->x2[i] += a->x1[i];
        a->scale2 = normalised(a->x2, a->n2);
        times(p + HEAD, a->n2, a->chance, V, W);
        softmax(a->chance, V);
        surprise -= log(a->chance[tokens[t + 1]]);
    }
    return surprise / n;
}

static void backward(const double *p, double *g, const int *tokens, int n) {
    static double dk[B][W], dv[B][W];
    memset(dk, 0, sizeof dk);
    memset(dv, 0, sizeof dv);
    for (int t = n - 1; t >= 0; t--) {
        Place *a = &at[t];
        double dscore[V], dn[W] = {0}, dx2[W] = {0}, dhidden[F] = {0}, dx1[W], dheard[W] = {0}, dx0[W], dq[W] = {0};
        for (int i = 0; i < V; i++) dscore[i] = (a->chance[i] - (i == tokens[t + 1])) / n;
        times_back(p + HEAD, a->n2, dscore, g + HEAD, dn, V, W);
        normalised_back(a->x2, a->scale2, dn, dx2);

        memcpy(dx1, dx2, sizeof dx1);
        times_back(p + NARROW, a->hidden, dx2, g + NARROW, dhidden, W, F);
        for (int i = 0; i < F; i++) dhidden[i] = a->hidden[i] > 0.0 ? dhidden[i] : 0.0;
        memset(dn, 0, sizeof dn);
        times_back(p + WIDEN, a->n1, dhidden, g + WIDEN, dn, F, W);
        normalised_back(a->x1, a->scale1, dn, dx1);

        memcpy(dx0, dx1, sizeof dx0);
        times_back(p + MIX, a->heard, dx1, g + MIX, dheard, W, W);
        for (int h = 0; h < H; h++) {
            double dshare[B], shared = 0.0;
            for (int s = 0; s <= t; s++) {
                dshare[s] = 0.0;
                for (int i = h * S; i < (h + 1) * S; i++) {
                    dshare[s] += dheard[i] * at[s].v[i];
                    dv[s][i] += dheard[i] * a->share[h][s];
                }
                shared += dshare[s] * a->share[h][s];
            }
            for (int s = 0; s <= t; s++) {
                double dfit = a->share[h][s] * (dshare[s] - shared) / sqrt(S);
                for (int i = h * S; i < (h + 1) * S; i++) {
                    dq[i] += dfit * at[s].k[i];
                    dk[s][i] += dfit * a->q[i];
                }
            }
        }
        double dlooking[W] = {0}, dsum[W] = {0};
        times_back(p + QUERY, a->looking, dq, g + QUERY, dlooking, W, W);
        times_back(p + KEY, a->looking, dk[t], g + KEY, dlooking, W, W);
        times_back(p + VALUE, a->looking, dv[t], g + VALUE, dlooking, W, W);
        normalised_back(a->x0, a->scale_looking, dlooking, dx0);
        normalised_back(a->sum, a->scale0, dx0, dsum);
        for (int i = 0; i < W; i++) {
            g[TOKEN + tokens[t] * W + i] += dsum[i];
            g[POSITION + t * W + i] += dsum[i];
        }
    }
}

/* `tokens` holds n + 1 of them. Gradients are cleared, the loss is computed and walked back, Adam takes its step. */
double train_step(double *p, double *g, double *m, double *v, const int *tokens, int n, double lr, double beta1,
                  double beta2, int step) {
    memset(g, 0, COUNT * sizeof *g);
    double loss = forward(p, tokens, n);
    backward(p, g, tokens, n);
    double correct1 = 1.0 - pow(beta1, step), correct2 = sqrt(1.0 - pow(beta2, step));
    for (int i = 0; i < COUNT; i++) {
        m[i] = beta1 * m[i] + (1.0 - beta1) * g[i];
        v[i] = beta2 * v[i] + (1.0 - beta2) * g[i] * g[i];
        p[i] -= lr / correct1 * m[i] / (sqrt(v[i]) / correct2 + 1e-8);
    }
    return loss;
}
