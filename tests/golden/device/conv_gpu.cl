
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k0_conv_relu(__global float* restrict R_base, const ulong R_at, __global const float* restrict D_base, const ulong D_at, __global const float* restrict K_base, const ulong K_at)
{
  __global float* restrict R = R_base + R_at;
  __global const float* restrict D = D_base + D_at;
  __global const float* restrict K = K_base + K_at;
  __local float Ds[1570] __attribute__((aligned(64)));
  __local float Ks[1588] __attribute__((aligned(64)));
  float acc[8];
  const int co = (int)get_group_id(0);
  const int y = (int)get_group_id(1);
  const int group = (int)get_group_id(2);
  const int lane = (int)get_local_id(0);
  const int x = group % 112;
  const int n = group / 112;
  const int c = lane % 8;
  const int y_1 = (lane / 8) % 2;
  const int x_1 = (lane / 16) % 2;
  const int n_1 = lane / 32;
  const int n_2 = (lane / 8) % 16;
  const int yl = lane / 128;
  const int o = ((((c + (n * 51380224)) + (n_2 * 3211264)) + (x * 28672)) + (y * 128)) + (yl * 64);
  const int o_5 = ((c * 49) + (n_2 * 3)) + (yl * 393);
  const int co_1 = lane / 8;
  const int o_8 = (c + (co * 2048)) + (co_1 * 64);
  const int o_13 = (c * 33) + co_1;
  const int o_16 = ((n_1 * 3) + x_1) + (y_1 * 393);
  const int o_48 = ((((((c + (co * 32)) + (n * 51380224)) + (n_1 * 3211264)) + (x * 28672)) + (x_1 * 14336)) + (y * 128)) + (y_1 * 64);
  acc[0] = 0.0f;
  acc[4] = 0.0f;
  acc[1] = 0.0f;
  acc[5] = 0.0f;
  acc[2] = 0.0f;
  acc[6] = 0.0f;
  acc[3] = 0.0f;
  acc[7] = 0.0f;
  for (int ci = 0; ci < 8; ++ci) {
    const int o_1 = o + (ci * 8);
    const int o_9 = o_8 + (ci * 8);
    for (int i = 0; i < 2; ++i) {
      const int o_2 = o_1 + (i * 28672);
      const int o_10 = o_9 + (i * 24576);
      for (int yh = 0; yh < 2; ++yh) {
        const int o_3 = o_2 + (yh * 128);
        const int o_6 = o_5 + (yh * 786);
        for (int x_2 = 0; x_2 < 3; ++x_2) {
          const int o_4 = o_3 + (x_2 * 14336);
          const int o_7 = o_6 + x_2;
          const int clamped = min(max((o_4 + (-14400)), 0), 102760447);
          const float d = D[clamped];
          Ds[o_7] = d;
        }
      }
      for (int il = 0; il < 2; ++il) {
        const int o_11 = o_10 + (il * 12288);
        const int o_14 = o_13 + (il * 795);
        for (int j = 0; j < 3; ++j) {
          const int o_12 = o_11 + (j * 4096);
          const int o_15 = o_14 + (j * 265);
          const int clamped_1 = min(max(o_12, 0), 36863);
          const float k = K[clamped_1];
          Ks[o_15] = k;
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      if ((((1 <= ((i * 2) + (x * 2))) && (((i * 2) + (x * 2)) <= 222)) && (1 <= (y * 2))) && ((y * 2) <= 221)) {
        for (int il_1 = 0; il_1 < min(2, (3 - (i * 2))); ++il_1) {
          const int o_17 = o_16 + il_1;
          const int o_20 = c + (il_1 * 795);
          for (int ci_1 = 0; ci_1 < 8; ++ci_1) {
            const int o_18 = o_17 + (ci_1 * 49);
            const int o_21 = o_20 + (ci_1 * 33);
            for (int j_1 = 0; j_1 < 3; ++j_1) {
              const int o_19 = o_18 + (j_1 * 393);
              const int o_22 = o_21 + (j_1 * 265);
              const float d_1 = Ds[o_19];
              const float k_1 = Ks[o_22];
              const float sum = acc[0];
              const float sum_1 = fma(d_1, k_1, sum);
              acc[0] = sum_1;
              const float d_2 = Ds[o_19 + 24];
              const float sum_2 = acc[4];
              const float sum_3 = fma(d_2, k_1, sum_2);
              acc[4] = sum_3;
              const float k_3 = Ks[o_22 + 8];
              const float sum_4 = acc[1];
              const float sum_5 = fma(d_1, k_3, sum_4);
              acc[1] = sum_5;
              const float sum_6 = acc[5];
              const float sum_7 = fma(d_2, k_3, sum_6);
              acc[5] = sum_7;
              const float k_5 = Ks[o_22 + 16];
              const float sum_8 = acc[2];
              const float sum_9 = fma(d_1, k_5, sum_8);
              acc[2] = sum_9;
              const float sum_10 = acc[6];
              const float sum_11 = fma(d_2, k_5, sum_10);
              acc[6] = sum_11;
              const float k_7 = Ks[o_22 + 24];
              const float sum_12 = acc[3];
              const float sum_13 = fma(d_1, k_7, sum_12);
              acc[3] = sum_13;
              const float sum_14 = acc[7];
              const float sum_15 = fma(d_2, k_7, sum_14);
              acc[7] = sum_15;
            }
          }
        }
      }
      if (((i * 2) + (x * 2)) <= 0) {
        for (int il_2 = max(0, (((1 - (i * 2)) - (x * 2)) - x_1)); il_2 < min(min(2, (3 - (i * 2))), (((225 - (i * 2)) - (x * 2)) - x_1)); ++il_2) {
          const int o_23 = o_16 + il_2;
          const int o_26 = c + (il_2 * 795);
          for (int ci_2 = 0; ci_2 < 8; ++ci_2) {
            const int o_24 = o_23 + (ci_2 * 49);
            const int o_27 = o_26 + (ci_2 * 33);
            for (int j_2 = max(0, ((1 - (y * 2)) - y_1)); j_2 < min(3, ((225 - (y * 2)) - y_1)); ++j_2) {
              const int o_25 = o_24 + (j_2 * 393);
              const int o_28 = o_27 + (j_2 * 265);
              const float d_9 = Ds[o_25];
              const float k_9 = Ks[o_28];
              const float sum_16 = acc[0];
              const float sum_17 = fma(d_9, k_9, sum_16);
              acc[0] = sum_17;
              const float d_10 = Ds[o_25 + 24];
              const float sum_18 = acc[4];
              const float sum_19 = fma(d_10, k_9, sum_18);
              acc[4] = sum_19;
              const float k_11 = Ks[o_28 + 8];
              const float sum_20 = acc[1];
              const float sum_21 = fma(d_9, k_11, sum_20);
              acc[1] = sum_21;
              const float sum_22 = acc[5];
              const float sum_23 = fma(d_10, k_11, sum_22);
              acc[5] = sum_23;
              const float k_13 = Ks[o_28 + 16];
              const float sum_24 = acc[2];
              const float sum_25 = fma(d_9, k_13, sum_24);
              acc[2] = sum_25;
              const float sum_26 = acc[6];
              const float sum_27 = fma(d_10, k_13, sum_26);
              acc[6] = sum_27;
              const float k_15 = Ks[o_28 + 24];
              const float sum_28 = acc[3];
              const float sum_29 = fma(d_9, k_15, sum_28);
              acc[3] = sum_29;
              const float sum_30 = acc[7];
              const float sum_31 = fma(d_10, k_15, sum_30);
              acc[7] = sum_31;
            }
          }
        }
      }
      if (223 <= ((i * 2) + (x * 2))) {
        for (int il_3 = max(0, (((1 - (i * 2)) - (x * 2)) - x_1)); il_3 < min(min(2, (3 - (i * 2))), (((225 - (i * 2)) - (x * 2)) - x_1)); ++il_3) {
          const int o_29 = o_16 + il_3;
          const int o_32 = c + (il_3 * 795);
          for (int ci_3 = 0; ci_3 < 8; ++ci_3) {
            const int o_30 = o_29 + (ci_3 * 49);
            const int o_33 = o_32 + (ci_3 * 33);
            for (int j_3 = max(0, ((1 - (y * 2)) - y_1)); j_3 < min(3, ((225 - (y * 2)) - y_1)); ++j_3) {
              const int o_31 = o_30 + (j_3 * 393);
              const int o_34 = o_33 + (j_3 * 265);
              const float d_17 = Ds[o_31];
              const float k_17 = Ks[o_34];
              const float sum_32 = acc[0];
              const float sum_33 = fma(d_17, k_17, sum_32);
              acc[0] = sum_33;
              const float d_18 = Ds[o_31 + 24];
              const float sum_34 = acc[4];
              const float sum_35 = fma(d_18, k_17, sum_34);
              acc[4] = sum_35;
              const float k_19 = Ks[o_34 + 8];
              const float sum_36 = acc[1];
              const float sum_37 = fma(d_17, k_19, sum_36);
              acc[1] = sum_37;
              const float sum_38 = acc[5];
              const float sum_39 = fma(d_18, k_19, sum_38);
              acc[5] = sum_39;
              const float k_21 = Ks[o_34 + 16];
              const float sum_40 = acc[2];
              const float sum_41 = fma(d_17, k_21, sum_40);
              acc[2] = sum_41;
              const float sum_42 = acc[6];
              const float sum_43 = fma(d_18, k_21, sum_42);
              acc[6] = sum_43;
              const float k_23 = Ks[o_34 + 24];
              const float sum_44 = acc[3];
              const float sum_45 = fma(d_17, k_23, sum_44);
              acc[3] = sum_45;
              const float sum_46 = acc[7];
              const float sum_47 = fma(d_18, k_23, sum_46);
              acc[7] = sum_47;
            }
          }
        }
      }
      if (((1 <= ((i * 2) + (x * 2))) && (((i * 2) + (x * 2)) <= 222)) && ((y * 2) <= 0)) {
        for (int il_4 = max(0, (((1 - (i * 2)) - (x * 2)) - x_1)); il_4 < min(min(2, (3 - (i * 2))), (((225 - (i * 2)) - (x * 2)) - x_1)); ++il_4) {
          const int o_35 = o_16 + il_4;
          const int o_38 = c + (il_4 * 795);
          for (int ci_4 = 0; ci_4 < 8; ++ci_4) {
            const int o_36 = o_35 + (ci_4 * 49);
            const int o_39 = o_38 + (ci_4 * 33);
            for (int j_4 = max(0, ((1 - (y * 2)) - y_1)); j_4 < min(3, ((225 - (y * 2)) - y_1)); ++j_4) {
              const int o_37 = o_36 + (j_4 * 393);
              const int o_40 = o_39 + (j_4 * 265);
              const float d_25 = Ds[o_37];
              const float k_25 = Ks[o_40];
              const float sum_48 = acc[0];
              const float sum_49 = fma(d_25, k_25, sum_48);
              acc[0] = sum_49;
              const float d_26 = Ds[o_37 + 24];
              const float sum_50 = acc[4];
              const float sum_51 = fma(d_26, k_25, sum_50);
              acc[4] = sum_51;
              const float k_27 = Ks[o_40 + 8];
              const float sum_52 = acc[1];
              const float sum_53 = fma(d_25, k_27, sum_52);
              acc[1] = sum_53;
              const float sum_54 = acc[5];
              const float sum_55 = fma(d_26, k_27, sum_54);
              acc[5] = sum_55;
              const float k_29 = Ks[o_40 + 16];
              const float sum_56 = acc[2];
              const float sum_57 = fma(d_25, k_29, sum_56);
              acc[2] = sum_57;
              const float sum_58 = acc[6];
              const float sum_59 = fma(d_26, k_29, sum_58);
              acc[6] = sum_59;
              const float k_31 = Ks[o_40 + 24];
              const float sum_60 = acc[3];
              const float sum_61 = fma(d_25, k_31, sum_60);
              acc[3] = sum_61;
              const float sum_62 = acc[7];
              const float sum_63 = fma(d_26, k_31, sum_62);
              acc[7] = sum_63;
            }
          }
        }
      }
      if (((1 <= ((i * 2) + (x * 2))) && (((i * 2) + (x * 2)) <= 222)) && (222 <= (y * 2))) {
        for (int il_5 = max(0, (((1 - (i * 2)) - (x * 2)) - x_1)); il_5 < min(min(2, (3 - (i * 2))), (((225 - (i * 2)) - (x * 2)) - x_1)); ++il_5) {
          const int o_41 = o_16 + il_5;
          const int o_44 = c + (il_5 * 795);
          for (int ci_5 = 0; ci_5 < 8; ++ci_5) {
            const int o_42 = o_41 + (ci_5 * 49);
            const int o_45 = o_44 + (ci_5 * 33);
            for (int j_5 = max(0, ((1 - (y * 2)) - y_1)); j_5 < min(3, ((225 - (y * 2)) - y_1)); ++j_5) {
              const int o_43 = o_42 + (j_5 * 393);
              const int o_46 = o_45 + (j_5 * 265);
              const float d_33 = Ds[o_43];
              const float k_33 = Ks[o_46];
              const float sum_64 = acc[0];
              const float sum_65 = fma(d_33, k_33, sum_64);
              acc[0] = sum_65;
              const float d_34 = Ds[o_43 + 24];
              const float sum_66 = acc[4];
              const float sum_67 = fma(d_34, k_33, sum_66);
              acc[4] = sum_67;
              const float k_35 = Ks[o_46 + 8];
              const float sum_68 = acc[1];
              const float sum_69 = fma(d_33, k_35, sum_68);
              acc[1] = sum_69;
              const float sum_70 = acc[5];
              const float sum_71 = fma(d_34, k_35, sum_70);
              acc[5] = sum_71;
              const float k_37 = Ks[o_46 + 16];
              const float sum_72 = acc[2];
              const float sum_73 = fma(d_33, k_37, sum_72);
              acc[2] = sum_73;
              const float sum_74 = acc[6];
              const float sum_75 = fma(d_34, k_37, sum_74);
              acc[6] = sum_75;
              const float k_39 = Ks[o_46 + 24];
              const float sum_76 = acc[3];
              const float sum_77 = fma(d_33, k_39, sum_76);
              acc[3] = sum_77;
              const float sum_78 = acc[7];
              const float sum_79 = fma(d_34, k_39, sum_78);
              acc[7] = sum_79;
            }
          }
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  const float o_47 = acc[0];
  const bool p = 0.0f < o_47;
  const float r = p ? o_47 : 0.0f;
  R[o_48] = r;
  const float o_49 = acc[4];
  const bool p_1 = 0.0f < o_49;
  const float r_1 = p_1 ? o_49 : 0.0f;
  R[o_48 + 25690112] = r_1;
  const float o_50 = acc[1];
  const bool p_2 = 0.0f < o_50;
  const float r_2 = p_2 ? o_50 : 0.0f;
  R[o_48 + 8] = r_2;
  const float o_51 = acc[5];
  const bool p_3 = 0.0f < o_51;
  const float r_3 = p_3 ? o_51 : 0.0f;
  R[o_48 + 25690120] = r_3;
  const float o_52 = acc[2];
  const bool p_4 = 0.0f < o_52;
  const float r_4 = p_4 ? o_52 : 0.0f;
  R[o_48 + 16] = r_4;
  const float o_53 = acc[6];
  const bool p_5 = 0.0f < o_53;
  const float r_5 = p_5 ? o_53 : 0.0f;
  R[o_48 + 25690128] = r_5;
  const float o_54 = acc[3];
  const bool p_6 = 0.0f < o_54;
  const float r_6 = p_6 ? o_54 : 0.0f;
  R[o_48 + 24] = r_6;
  const float o_55 = acc[7];
  const bool p_7 = 0.0f < o_55;
  const float r_7 = p_7 ? o_55 : 0.0f;
  R[o_48 + 25690136] = r_7;
}
