
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k0_kernel_0_kernel_1(__global float* restrict R_base, const ulong R_at, __global const float* restrict D_base, const ulong D_at, __global const float* restrict K_base, const ulong K_at)
{
  __global float* restrict R = R_base + R_at;
  __global const float* restrict D = D_base + D_at;
  __global const float* restrict K = K_base + K_at;
  float O[8];
  __local float D_near[1570] __attribute__((aligned(64)));
  __local float K_near[1588] __attribute__((aligned(64)));
  const int y = (int)get_group_id(0);
  const int x = (int)get_group_id(1);
  const int group = (int)get_group_id(2);
  const int lane = (int)get_local_id(0);
  const int n = group % 2;
  const int co = group / 2;
  const int co_0_lane = lane % 8;
  const int y_0 = (lane / 8) % 2;
  const int x_0 = (lane / 16) % 2;
  const int n_0_lane = lane / 32;
  const int i0 = (lane / 8) % 16;
  const int i2_lane = lane / 128;
  const int o = ((((co_0_lane + (i0 * 3211264)) + (i2_lane * 64)) + (n * 51380224)) + (x * 28672)) + (y * 128);
  const int o_3 = ((co_0_lane * 49) + (i0 * 3)) + (i2_lane * 393);
  const int i2 = lane / 8;
  const int o_4 = ((co * 2048) + co_0_lane) + (i2 * 64);
  const int o_7 = (co_0_lane * 33) + i2;
  const int o_8 = ((n_0_lane * 3) + x_0) + (y_0 * 393);
  const int o_45 = (((((((co * 32) + co_0_lane) + (n * 51380224)) + (n_0_lane * 3211264)) + (x * 28672)) + (x_0 * 14336)) + (y * 128)) + (y_0 * 64);
  O[0] = 0.0f;
  O[4] = 0.0f;
  O[1] = 0.0f;
  O[5] = 0.0f;
  O[2] = 0.0f;
  O[6] = 0.0f;
  O[3] = 0.0f;
  O[7] = 0.0f;
  for (int ci = 0; ci < 8; ++ci) {
    const int o_1 = o + (ci * 8);
    const int o_5 = o_4 + (ci * 8);
    for (int i = 0; i < 2; ++i) {
      const int o_2 = o_1 + (i * 28672);
      const int o_6 = o_5 + (i * 24576);
      const int clamped = min(max((o_2 + (-14400)), 0), 102760447);
      const float value = D[clamped];
      D_near[o_3] = value;
      const int clamped_1 = min(max((o_2 + (-14272)), 0), 102760447);
      const float value_1 = D[clamped_1];
      D_near[o_3 + 786] = value_1;
      const int clamped_2 = min(max((o_2 + (-64)), 0), 102760447);
      const float value_2 = D[clamped_2];
      D_near[o_3 + 1] = value_2;
      const int clamped_3 = min(max((o_2 + 64), 0), 102760447);
      const float value_3 = D[clamped_3];
      D_near[o_3 + 787] = value_3;
      const int clamped_4 = min(max((o_2 + 14272), 0), 102760447);
      const float value_4 = D[clamped_4];
      D_near[o_3 + 2] = value_4;
      const int clamped_5 = min(max((o_2 + 14400), 0), 102760447);
      const float value_5 = D[clamped_5];
      D_near[o_3 + 788] = value_5;
      const float value_6 = K[o_6];
      K_near[o_7] = value_6;
      const float value_7 = K[o_6 + 4096];
      K_near[o_7 + 265] = value_7;
      const float value_8 = K[o_6 + 8192];
      K_near[o_7 + 530] = value_8;
      const int clamped_6 = min(max((o_6 + 12288), 0), 36863);
      const float value_9 = K[clamped_6];
      K_near[o_7 + 795] = value_9;
      const int clamped_7 = min(max((o_6 + 16384), 0), 36863);
      const float value_10 = K[clamped_7];
      K_near[o_7 + 1060] = value_10;
      const int clamped_8 = min(max((o_6 + 20480), 0), 36863);
      const float value_11 = K[clamped_8];
      K_near[o_7 + 1325] = value_11;
      barrier(CLK_LOCAL_MEM_FENCE);
      if (((((1 <= ((i * 2) + (x * 2))) && (((i * 2) + (x * 2)) <= 222)) && (1 <= (y * 2))) && ((y * 2) <= 221)) && ((i * 2) <= 1)) {
        for (int ci_1 = 0; ci_1 < 8; ++ci_1) {
          const int o_9 = o_8 + (ci_1 * 49);
          const int o_12 = co_0_lane + (ci_1 * 33);
          for (int i_1 = 0; i_1 < 2; ++i_1) {
            const int o_10 = o_9 + i_1;
            const int o_13 = o_12 + (i_1 * 795);
            for (int j = 0; j < 3; ++j) {
              const int o_11 = o_10 + (j * 393);
              const int o_14 = o_13 + (j * 265);
              const float D_1 = D_near[o_11];
              const float K_1 = K_near[o_14];
              const float sum = O[0];
              const float sum_1 = fma(D_1, K_1, sum);
              O[0] = sum_1;
              const float D_2 = D_near[o_11 + 24];
              const float sum_2 = O[4];
              const float sum_3 = fma(D_2, K_1, sum_2);
              O[4] = sum_3;
              const float K_3 = K_near[o_14 + 8];
              const float sum_4 = O[1];
              const float sum_5 = fma(D_1, K_3, sum_4);
              O[1] = sum_5;
              const float sum_6 = O[5];
              const float sum_7 = fma(D_2, K_3, sum_6);
              O[5] = sum_7;
              const float K_5 = K_near[o_14 + 16];
              const float sum_8 = O[2];
              const float sum_9 = fma(D_1, K_5, sum_8);
              O[2] = sum_9;
              const float sum_10 = O[6];
              const float sum_11 = fma(D_2, K_5, sum_10);
              O[6] = sum_11;
              const float K_7 = K_near[o_14 + 24];
              const float sum_12 = O[3];
              const float sum_13 = fma(D_1, K_7, sum_12);
              O[3] = sum_13;
              const float sum_14 = O[7];
              const float sum_15 = fma(D_2, K_7, sum_14);
              O[7] = sum_15;
            }
          }
        }
      }
      if (((i * 2) + (x * 2)) <= 0) {
        for (int ci_2 = 0; ci_2 < 8; ++ci_2) {
          const int o_15 = o_8 + (ci_2 * 49);
          const int o_18 = co_0_lane + (ci_2 * 33);
          for (int i_2 = max(0, (((1 - (i * 2)) - (x * 2)) - x_0)); i_2 < min(min(2, (((225 - (i * 2)) - (x * 2)) - x_0)), (3 - (i * 2))); ++i_2) {
            const int o_16 = o_15 + i_2;
            const int o_19 = o_18 + (i_2 * 795);
            for (int j_1 = max(0, ((1 - (y * 2)) - y_0)); j_1 < min(3, ((225 - (y * 2)) - y_0)); ++j_1) {
              const int o_17 = o_16 + (j_1 * 393);
              const int o_20 = o_19 + (j_1 * 265);
              const float D_9 = D_near[o_17];
              const float K_9 = K_near[o_20];
              const float sum_16 = O[0];
              const float sum_17 = fma(D_9, K_9, sum_16);
              O[0] = sum_17;
              const float D_10 = D_near[o_17 + 24];
              const float sum_18 = O[4];
              const float sum_19 = fma(D_10, K_9, sum_18);
              O[4] = sum_19;
              const float K_11 = K_near[o_20 + 8];
              const float sum_20 = O[1];
              const float sum_21 = fma(D_9, K_11, sum_20);
              O[1] = sum_21;
              const float sum_22 = O[5];
              const float sum_23 = fma(D_10, K_11, sum_22);
              O[5] = sum_23;
              const float K_13 = K_near[o_20 + 16];
              const float sum_24 = O[2];
              const float sum_25 = fma(D_9, K_13, sum_24);
              O[2] = sum_25;
              const float sum_26 = O[6];
              const float sum_27 = fma(D_10, K_13, sum_26);
              O[6] = sum_27;
              const float K_15 = K_near[o_20 + 24];
              const float sum_28 = O[3];
              const float sum_29 = fma(D_9, K_15, sum_28);
              O[3] = sum_29;
              const float sum_30 = O[7];
              const float sum_31 = fma(D_10, K_15, sum_30);
              O[7] = sum_31;
            }
          }
        }
      }
      if ((1 <= ((i * 2) + (x * 2))) && (223 <= ((i * 2) + (x * 2)))) {
        for (int ci_3 = 0; ci_3 < 8; ++ci_3) {
          const int o_21 = o_8 + (ci_3 * 49);
          const int o_24 = co_0_lane + (ci_3 * 33);
          for (int i_3 = 0; i_3 < min(min(2, (((225 - (i * 2)) - (x * 2)) - x_0)), (3 - (i * 2))); ++i_3) {
            const int o_22 = o_21 + i_3;
            const int o_25 = o_24 + (i_3 * 795);
            for (int j_2 = max(0, ((1 - (y * 2)) - y_0)); j_2 < min(3, ((225 - (y * 2)) - y_0)); ++j_2) {
              const int o_23 = o_22 + (j_2 * 393);
              const int o_26 = o_25 + (j_2 * 265);
              const float D_17 = D_near[o_23];
              const float K_17 = K_near[o_26];
              const float sum_32 = O[0];
              const float sum_33 = fma(D_17, K_17, sum_32);
              O[0] = sum_33;
              const float D_18 = D_near[o_23 + 24];
              const float sum_34 = O[4];
              const float sum_35 = fma(D_18, K_17, sum_34);
              O[4] = sum_35;
              const float K_19 = K_near[o_26 + 8];
              const float sum_36 = O[1];
              const float sum_37 = fma(D_17, K_19, sum_36);
              O[1] = sum_37;
              const float sum_38 = O[5];
              const float sum_39 = fma(D_18, K_19, sum_38);
              O[5] = sum_39;
              const float K_21 = K_near[o_26 + 16];
              const float sum_40 = O[2];
              const float sum_41 = fma(D_17, K_21, sum_40);
              O[2] = sum_41;
              const float sum_42 = O[6];
              const float sum_43 = fma(D_18, K_21, sum_42);
              O[6] = sum_43;
              const float K_23 = K_near[o_26 + 24];
              const float sum_44 = O[3];
              const float sum_45 = fma(D_17, K_23, sum_44);
              O[3] = sum_45;
              const float sum_46 = O[7];
              const float sum_47 = fma(D_18, K_23, sum_46);
              O[7] = sum_47;
            }
          }
        }
      }
      if (((1 <= ((i * 2) + (x * 2))) && (((i * 2) + (x * 2)) <= 222)) && ((y * 2) <= 0)) {
        for (int ci_4 = 0; ci_4 < 8; ++ci_4) {
          const int o_27 = o_8 + (ci_4 * 49);
          const int o_30 = co_0_lane + (ci_4 * 33);
          for (int i_4 = 0; i_4 < min(2, (3 - (i * 2))); ++i_4) {
            const int o_28 = o_27 + i_4;
            const int o_31 = o_30 + (i_4 * 795);
            for (int j_3 = max(0, ((1 - (y * 2)) - y_0)); j_3 < min(3, ((225 - (y * 2)) - y_0)); ++j_3) {
              const int o_29 = o_28 + (j_3 * 393);
              const int o_32 = o_31 + (j_3 * 265);
              const float D_25 = D_near[o_29];
              const float K_25 = K_near[o_32];
              const float sum_48 = O[0];
              const float sum_49 = fma(D_25, K_25, sum_48);
              O[0] = sum_49;
              const float D_26 = D_near[o_29 + 24];
              const float sum_50 = O[4];
              const float sum_51 = fma(D_26, K_25, sum_50);
              O[4] = sum_51;
              const float K_27 = K_near[o_32 + 8];
              const float sum_52 = O[1];
              const float sum_53 = fma(D_25, K_27, sum_52);
              O[1] = sum_53;
              const float sum_54 = O[5];
              const float sum_55 = fma(D_26, K_27, sum_54);
              O[5] = sum_55;
              const float K_29 = K_near[o_32 + 16];
              const float sum_56 = O[2];
              const float sum_57 = fma(D_25, K_29, sum_56);
              O[2] = sum_57;
              const float sum_58 = O[6];
              const float sum_59 = fma(D_26, K_29, sum_58);
              O[6] = sum_59;
              const float K_31 = K_near[o_32 + 24];
              const float sum_60 = O[3];
              const float sum_61 = fma(D_25, K_31, sum_60);
              O[3] = sum_61;
              const float sum_62 = O[7];
              const float sum_63 = fma(D_26, K_31, sum_62);
              O[7] = sum_63;
            }
          }
        }
      }
      if ((((1 <= ((i * 2) + (x * 2))) && (((i * 2) + (x * 2)) <= 222)) && (1 <= (y * 2))) && (222 <= (y * 2))) {
        for (int ci_5 = 0; ci_5 < 8; ++ci_5) {
          const int o_33 = o_8 + (ci_5 * 49);
          const int o_36 = co_0_lane + (ci_5 * 33);
          for (int i_5 = 0; i_5 < min(2, (3 - (i * 2))); ++i_5) {
            const int o_34 = o_33 + i_5;
            const int o_37 = o_36 + (i_5 * 795);
            for (int j_4 = 0; j_4 < min(3, ((225 - (y * 2)) - y_0)); ++j_4) {
              const int o_35 = o_34 + (j_4 * 393);
              const int o_38 = o_37 + (j_4 * 265);
              const float D_33 = D_near[o_35];
              const float K_33 = K_near[o_38];
              const float sum_64 = O[0];
              const float sum_65 = fma(D_33, K_33, sum_64);
              O[0] = sum_65;
              const float D_34 = D_near[o_35 + 24];
              const float sum_66 = O[4];
              const float sum_67 = fma(D_34, K_33, sum_66);
              O[4] = sum_67;
              const float K_35 = K_near[o_38 + 8];
              const float sum_68 = O[1];
              const float sum_69 = fma(D_33, K_35, sum_68);
              O[1] = sum_69;
              const float sum_70 = O[5];
              const float sum_71 = fma(D_34, K_35, sum_70);
              O[5] = sum_71;
              const float K_37 = K_near[o_38 + 16];
              const float sum_72 = O[2];
              const float sum_73 = fma(D_33, K_37, sum_72);
              O[2] = sum_73;
              const float sum_74 = O[6];
              const float sum_75 = fma(D_34, K_37, sum_74);
              O[6] = sum_75;
              const float K_39 = K_near[o_38 + 24];
              const float sum_76 = O[3];
              const float sum_77 = fma(D_33, K_39, sum_76);
              O[3] = sum_77;
              const float sum_78 = O[7];
              const float sum_79 = fma(D_34, K_39, sum_78);
              O[7] = sum_79;
            }
          }
        }
      }
      if (((((1 <= ((i * 2) + (x * 2))) && (((i * 2) + (x * 2)) <= 222)) && (1 <= (y * 2))) && ((y * 2) <= 221)) && (2 <= (i * 2))) {
        for (int ci_6 = 0; ci_6 < 8; ++ci_6) {
          const int o_39 = o_8 + (ci_6 * 49);
          const int o_42 = co_0_lane + (ci_6 * 33);
          for (int i_6 = 0; i_6 < min(2, (3 - (i * 2))); ++i_6) {
            const int o_40 = o_39 + i_6;
            const int o_43 = o_42 + (i_6 * 795);
            for (int j_5 = 0; j_5 < 3; ++j_5) {
              const int o_41 = o_40 + (j_5 * 393);
              const int o_44 = o_43 + (j_5 * 265);
              const float D_41 = D_near[o_41];
              const float K_41 = K_near[o_44];
              const float sum_80 = O[0];
              const float sum_81 = fma(D_41, K_41, sum_80);
              O[0] = sum_81;
              const float D_42 = D_near[o_41 + 24];
              const float sum_82 = O[4];
              const float sum_83 = fma(D_42, K_41, sum_82);
              O[4] = sum_83;
              const float K_43 = K_near[o_44 + 8];
              const float sum_84 = O[1];
              const float sum_85 = fma(D_41, K_43, sum_84);
              O[1] = sum_85;
              const float sum_86 = O[5];
              const float sum_87 = fma(D_42, K_43, sum_86);
              O[5] = sum_87;
              const float K_45 = K_near[o_44 + 16];
              const float sum_88 = O[2];
              const float sum_89 = fma(D_41, K_45, sum_88);
              O[2] = sum_89;
              const float sum_90 = O[6];
              const float sum_91 = fma(D_42, K_45, sum_90);
              O[6] = sum_91;
              const float K_47 = K_near[o_44 + 24];
              const float sum_92 = O[3];
              const float sum_93 = fma(D_41, K_47, sum_92);
              O[3] = sum_93;
              const float sum_94 = O[7];
              const float sum_95 = fma(D_42, K_47, sum_94);
              O[7] = sum_95;
            }
          }
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  const float O_49 = O[0];
  const bool cmp_gt = 0.0f < O_49;
  const float R_1 = cmp_gt ? O_49 : 0.0f;
  R[o_45] = R_1;
  const float O_50 = O[4];
  const bool cmp_gt_1 = 0.0f < O_50;
  const float R_2 = cmp_gt_1 ? O_50 : 0.0f;
  R[o_45 + 25690112] = R_2;
  const float O_51 = O[1];
  const bool cmp_gt_2 = 0.0f < O_51;
  const float R_3 = cmp_gt_2 ? O_51 : 0.0f;
  R[o_45 + 8] = R_3;
  const float O_52 = O[5];
  const bool cmp_gt_3 = 0.0f < O_52;
  const float R_4 = cmp_gt_3 ? O_52 : 0.0f;
  R[o_45 + 25690120] = R_4;
  const float O_53 = O[2];
  const bool cmp_gt_4 = 0.0f < O_53;
  const float R_5 = cmp_gt_4 ? O_53 : 0.0f;
  R[o_45 + 16] = R_5;
  const float O_54 = O[6];
  const bool cmp_gt_5 = 0.0f < O_54;
  const float R_6 = cmp_gt_5 ? O_54 : 0.0f;
  R[o_45 + 25690128] = R_6;
  const float O_55 = O[3];
  const bool cmp_gt_6 = 0.0f < O_55;
  const float R_7 = cmp_gt_6 ? O_55 : 0.0f;
  R[o_45 + 24] = R_7;
  const float O_56 = O[7];
  const bool cmp_gt_7 = 0.0f < O_56;
  const float R_8 = cmp_gt_7 ? O_56 : 0.0f;
  R[o_45 + 25690136] = R_8;
}
