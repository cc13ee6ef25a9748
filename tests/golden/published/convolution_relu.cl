
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void k0_kernel_0_kernel_1(__global float* restrict stria_base_R, const ulong stria_at_R, __global const float* restrict stria_base_D, const ulong stria_at_D, __global const float* restrict stria_base_K, const ulong stria_at_K)
{
  __global float* restrict v_R = stria_base_R + stria_at_R;
  __global const float* restrict v_D = stria_base_D + stria_at_D;
  __global const float* restrict v_K = stria_base_K + stria_at_K;
  float v_O[8];
  __local float v_D_scratch[1570] __attribute__((aligned(64)));
  __local float v_K_scratch[1588] __attribute__((aligned(64)));
  const int v_y = (int)get_group_id(0);
  const int v_x = (int)get_group_id(1);
  const int v_group = (int)get_group_id(2);
  const int v_lane = (int)get_local_id(0);
  const int v_n = v_group % 2;
  const int v_co = v_group / 2;
  const int v_co_0_lane = v_lane % 8;
  const int v_y_0 = (v_lane / 8) % 2;
  const int v_x_0 = (v_lane / 16) % 2;
  const int v_n_0_lane = v_lane / 32;
  const int v_i0 = (v_lane / 8) % 16;
  const int v_i2_lane = v_lane / 128;
  const int v_o = ((((v_co_0_lane + (v_i0 * 3211264)) + (v_i2_lane * 64)) + (v_n * 51380224)) + (v_x * 28672)) + (v_y * 128);
  const int v_o_3 = ((v_co_0_lane * 49) + (v_i0 * 3)) + (v_i2_lane * 393);
  const int v_i2 = v_lane / 8;
  const int v_o_4 = ((v_co * 2048) + v_co_0_lane) + (v_i2 * 64);
  const int v_o_7 = (v_co_0_lane * 33) + v_i2;
  const int v_o_8 = ((v_n_0_lane * 3) + v_x_0) + (v_y_0 * 393);
  const int v_o_45 = (((((((v_co * 32) + v_co_0_lane) + (v_n * 51380224)) + (v_n_0_lane * 3211264)) + (v_x * 28672)) + (v_x_0 * 14336)) + (v_y * 128)) + (v_y_0 * 64);
  v_O[0] = 0.0f;
  v_O[4] = 0.0f;
  v_O[1] = 0.0f;
  v_O[5] = 0.0f;
  v_O[2] = 0.0f;
  v_O[6] = 0.0f;
  v_O[3] = 0.0f;
  v_O[7] = 0.0f;
  for (int v_ci = 0; v_ci < 8; ++v_ci) {
    const int v_o_1 = v_o + (v_ci * 8);
    const int v_o_5 = v_o_4 + (v_ci * 8);
    for (int v_i = 0; v_i < 2; ++v_i) {
      const int v_o_2 = v_o_1 + (v_i * 28672);
      const int v_o_6 = v_o_5 + (v_i * 24576);
      const int v_clamped = min(max((v_o_2 + (-14400)), 0), 102760447);
      const float v_value = v_D[v_clamped];
      v_D_scratch[v_o_3] = v_value;
      const int v_clamped_1 = min(max((v_o_2 + (-14272)), 0), 102760447);
      const float v_value_1 = v_D[v_clamped_1];
      v_D_scratch[v_o_3 + 786] = v_value_1;
      const int v_clamped_2 = min(max((v_o_2 + (-64)), 0), 102760447);
      const float v_value_2 = v_D[v_clamped_2];
      v_D_scratch[v_o_3 + 1] = v_value_2;
      const int v_clamped_3 = min(max((v_o_2 + 64), 0), 102760447);
      const float v_value_3 = v_D[v_clamped_3];
      v_D_scratch[v_o_3 + 787] = v_value_3;
      const int v_clamped_4 = min(max((v_o_2 + 14272), 0), 102760447);
      const float v_value_4 = v_D[v_clamped_4];
      v_D_scratch[v_o_3 + 2] = v_value_4;
      const int v_clamped_5 = min(max((v_o_2 + 14400), 0), 102760447);
      const float v_value_5 = v_D[v_clamped_5];
      v_D_scratch[v_o_3 + 788] = v_value_5;
      const float v_value_6 = v_K[v_o_6];
      v_K_scratch[v_o_7] = v_value_6;
      const float v_value_7 = v_K[v_o_6 + 4096];
      v_K_scratch[v_o_7 + 265] = v_value_7;
      const float v_value_8 = v_K[v_o_6 + 8192];
      v_K_scratch[v_o_7 + 530] = v_value_8;
      const int v_clamped_6 = min(max((v_o_6 + 12288), 0), 36863);
      const float v_value_9 = v_K[v_clamped_6];
      v_K_scratch[v_o_7 + 795] = v_value_9;
      const int v_clamped_7 = min(max((v_o_6 + 16384), 0), 36863);
      const float v_value_10 = v_K[v_clamped_7];
      v_K_scratch[v_o_7 + 1060] = v_value_10;
      const int v_clamped_8 = min(max((v_o_6 + 20480), 0), 36863);
      const float v_value_11 = v_K[v_clamped_8];
      v_K_scratch[v_o_7 + 1325] = v_value_11;
      barrier(CLK_LOCAL_MEM_FENCE);
      if (((((1 <= ((v_i * 2) + (v_x * 2))) && (((v_i * 2) + (v_x * 2)) <= 222)) && (1 <= (v_y * 2))) && ((v_y * 2) <= 221)) && ((v_i * 2) <= 1)) {
        for (int v_ci_1 = 0; v_ci_1 < 8; ++v_ci_1) {
          const int v_o_9 = v_o_8 + (v_ci_1 * 49);
          const int v_o_12 = v_co_0_lane + (v_ci_1 * 33);
          for (int v_i_1 = 0; v_i_1 < 2; ++v_i_1) {
            const int v_o_10 = v_o_9 + v_i_1;
            const int v_o_13 = v_o_12 + (v_i_1 * 795);
            for (int v_j = 0; v_j < 3; ++v_j) {
              const int v_o_11 = v_o_10 + (v_j * 393);
              const int v_o_14 = v_o_13 + (v_j * 265);
              const float v_D_1 = v_D_scratch[v_o_11];
              const float v_K_1 = v_K_scratch[v_o_14];
              const float v_sum = v_O[0];
              const float v_sum_1 = fma(v_D_1, v_K_1, v_sum);
              v_O[0] = v_sum_1;
              const float v_D_2 = v_D_scratch[v_o_11 + 24];
              const float v_sum_2 = v_O[4];
              const float v_sum_3 = fma(v_D_2, v_K_1, v_sum_2);
              v_O[4] = v_sum_3;
              const float v_K_3 = v_K_scratch[v_o_14 + 8];
              const float v_sum_4 = v_O[1];
              const float v_sum_5 = fma(v_D_1, v_K_3, v_sum_4);
              v_O[1] = v_sum_5;
              const float v_sum_6 = v_O[5];
              const float v_sum_7 = fma(v_D_2, v_K_3, v_sum_6);
              v_O[5] = v_sum_7;
              const float v_K_5 = v_K_scratch[v_o_14 + 16];
              const float v_sum_8 = v_O[2];
              const float v_sum_9 = fma(v_D_1, v_K_5, v_sum_8);
              v_O[2] = v_sum_9;
              const float v_sum_10 = v_O[6];
              const float v_sum_11 = fma(v_D_2, v_K_5, v_sum_10);
              v_O[6] = v_sum_11;
              const float v_K_7 = v_K_scratch[v_o_14 + 24];
              const float v_sum_12 = v_O[3];
              const float v_sum_13 = fma(v_D_1, v_K_7, v_sum_12);
              v_O[3] = v_sum_13;
              const float v_sum_14 = v_O[7];
              const float v_sum_15 = fma(v_D_2, v_K_7, v_sum_14);
              v_O[7] = v_sum_15;
            }
          }
        }
      }
      if (((v_i * 2) + (v_x * 2)) <= 0) {
        for (int v_ci_2 = 0; v_ci_2 < 8; ++v_ci_2) {
          const int v_o_15 = v_o_8 + (v_ci_2 * 49);
          const int v_o_18 = v_co_0_lane + (v_ci_2 * 33);
          for (int v_i_2 = max(0, (((1 - (v_i * 2)) - (v_x * 2)) - v_x_0)); v_i_2 < min(min(2, (((225 - (v_i * 2)) - (v_x * 2)) - v_x_0)), (3 - (v_i * 2))); ++v_i_2) {
            const int v_o_16 = v_o_15 + v_i_2;
            const int v_o_19 = v_o_18 + (v_i_2 * 795);
            for (int v_j_1 = max(0, ((1 - (v_y * 2)) - v_y_0)); v_j_1 < min(3, ((225 - (v_y * 2)) - v_y_0)); ++v_j_1) {
              const int v_o_17 = v_o_16 + (v_j_1 * 393);
              const int v_o_20 = v_o_19 + (v_j_1 * 265);
              const float v_D_9 = v_D_scratch[v_o_17];
              const float v_K_9 = v_K_scratch[v_o_20];
              const float v_sum_16 = v_O[0];
              const float v_sum_17 = fma(v_D_9, v_K_9, v_sum_16);
              v_O[0] = v_sum_17;
              const float v_D_10 = v_D_scratch[v_o_17 + 24];
              const float v_sum_18 = v_O[4];
              const float v_sum_19 = fma(v_D_10, v_K_9, v_sum_18);
              v_O[4] = v_sum_19;
              const float v_K_11 = v_K_scratch[v_o_20 + 8];
              const float v_sum_20 = v_O[1];
              const float v_sum_21 = fma(v_D_9, v_K_11, v_sum_20);
              v_O[1] = v_sum_21;
              const float v_sum_22 = v_O[5];
              const float v_sum_23 = fma(v_D_10, v_K_11, v_sum_22);
              v_O[5] = v_sum_23;
              const float v_K_13 = v_K_scratch[v_o_20 + 16];
              const float v_sum_24 = v_O[2];
              const float v_sum_25 = fma(v_D_9, v_K_13, v_sum_24);
              v_O[2] = v_sum_25;
              const float v_sum_26 = v_O[6];
              const float v_sum_27 = fma(v_D_10, v_K_13, v_sum_26);
              v_O[6] = v_sum_27;
              const float v_K_15 = v_K_scratch[v_o_20 + 24];
              const float v_sum_28 = v_O[3];
              const float v_sum_29 = fma(v_D_9, v_K_15, v_sum_28);
              v_O[3] = v_sum_29;
              const float v_sum_30 = v_O[7];
              const float v_sum_31 = fma(v_D_10, v_K_15, v_sum_30);
              v_O[7] = v_sum_31;
            }
          }
        }
      }
      if ((1 <= ((v_i * 2) + (v_x * 2))) && (223 <= ((v_i * 2) + (v_x * 2)))) {
        for (int v_ci_3 = 0; v_ci_3 < 8; ++v_ci_3) {
          const int v_o_21 = v_o_8 + (v_ci_3 * 49);
          const int v_o_24 = v_co_0_lane + (v_ci_3 * 33);
          for (int v_i_3 = 0; v_i_3 < min(min(2, (((225 - (v_i * 2)) - (v_x * 2)) - v_x_0)), (3 - (v_i * 2))); ++v_i_3) {
            const int v_o_22 = v_o_21 + v_i_3;
            const int v_o_25 = v_o_24 + (v_i_3 * 795);
            for (int v_j_2 = max(0, ((1 - (v_y * 2)) - v_y_0)); v_j_2 < min(3, ((225 - (v_y * 2)) - v_y_0)); ++v_j_2) {
              const int v_o_23 = v_o_22 + (v_j_2 * 393);
              const int v_o_26 = v_o_25 + (v_j_2 * 265);
              const float v_D_17 = v_D_scratch[v_o_23];
              const float v_K_17 = v_K_scratch[v_o_26];
              const float v_sum_32 = v_O[0];
              const float v_sum_33 = fma(v_D_17, v_K_17, v_sum_32);
              v_O[0] = v_sum_33;
              const float v_D_18 = v_D_scratch[v_o_23 + 24];
              const float v_sum_34 = v_O[4];
              const float v_sum_35 = fma(v_D_18, v_K_17, v_sum_34);
              v_O[4] = v_sum_35;
              const float v_K_19 = v_K_scratch[v_o_26 + 8];
              const float v_sum_36 = v_O[1];
              const float v_sum_37 = fma(v_D_17, v_K_19, v_sum_36);
              v_O[1] = v_sum_37;
              const float v_sum_38 = v_O[5];
              const float v_sum_39 = fma(v_D_18, v_K_19, v_sum_38);
              v_O[5] = v_sum_39;
              const float v_K_21 = v_K_scratch[v_o_26 + 16];
              const float v_sum_40 = v_O[2];
              const float v_sum_41 = fma(v_D_17, v_K_21, v_sum_40);
              v_O[2] = v_sum_41;
              const float v_sum_42 = v_O[6];
              const float v_sum_43 = fma(v_D_18, v_K_21, v_sum_42);
              v_O[6] = v_sum_43;
              const float v_K_23 = v_K_scratch[v_o_26 + 24];
              const float v_sum_44 = v_O[3];
              const float v_sum_45 = fma(v_D_17, v_K_23, v_sum_44);
              v_O[3] = v_sum_45;
              const float v_sum_46 = v_O[7];
              const float v_sum_47 = fma(v_D_18, v_K_23, v_sum_46);
              v_O[7] = v_sum_47;
            }
          }
        }
      }
      if (((1 <= ((v_i * 2) + (v_x * 2))) && (((v_i * 2) + (v_x * 2)) <= 222)) && ((v_y * 2) <= 0)) {
        for (int v_ci_4 = 0; v_ci_4 < 8; ++v_ci_4) {
          const int v_o_27 = v_o_8 + (v_ci_4 * 49);
          const int v_o_30 = v_co_0_lane + (v_ci_4 * 33);
          for (int v_i_4 = 0; v_i_4 < min(2, (3 - (v_i * 2))); ++v_i_4) {
            const int v_o_28 = v_o_27 + v_i_4;
            const int v_o_31 = v_o_30 + (v_i_4 * 795);
            for (int v_j_3 = max(0, ((1 - (v_y * 2)) - v_y_0)); v_j_3 < min(3, ((225 - (v_y * 2)) - v_y_0)); ++v_j_3) {
              const int v_o_29 = v_o_28 + (v_j_3 * 393);
              const int v_o_32 = v_o_31 + (v_j_3 * 265);
              const float v_D_25 = v_D_scratch[v_o_29];
              const float v_K_25 = v_K_scratch[v_o_32];
              const float v_sum_48 = v_O[0];
              const float v_sum_49 = fma(v_D_25, v_K_25, v_sum_48);
              v_O[0] = v_sum_49;
              const float v_D_26 = v_D_scratch[v_o_29 + 24];
              const float v_sum_50 = v_O[4];
              const float v_sum_51 = fma(v_D_26, v_K_25, v_sum_50);
              v_O[4] = v_sum_51;
              const float v_K_27 = v_K_scratch[v_o_32 + 8];
              const float v_sum_52 = v_O[1];
              const float v_sum_53 = fma(v_D_25, v_K_27, v_sum_52);
              v_O[1] = v_sum_53;
              const float v_sum_54 = v_O[5];
              const float v_sum_55 = fma(v_D_26, v_K_27, v_sum_54);
              v_O[5] = v_sum_55;
              const float v_K_29 = v_K_scratch[v_o_32 + 16];
              const float v_sum_56 = v_O[2];
              const float v_sum_57 = fma(v_D_25, v_K_29, v_sum_56);
              v_O[2] = v_sum_57;
              const float v_sum_58 = v_O[6];
              const float v_sum_59 = fma(v_D_26, v_K_29, v_sum_58);
              v_O[6] = v_sum_59;
              const float v_K_31 = v_K_scratch[v_o_32 + 24];
              const float v_sum_60 = v_O[3];
              const float v_sum_61 = fma(v_D_25, v_K_31, v_sum_60);
              v_O[3] = v_sum_61;
              const float v_sum_62 = v_O[7];
              const float v_sum_63 = fma(v_D_26, v_K_31, v_sum_62);
              v_O[7] = v_sum_63;
            }
          }
        }
      }
      if ((((1 <= ((v_i * 2) + (v_x * 2))) && (((v_i * 2) + (v_x * 2)) <= 222)) && (1 <= (v_y * 2))) && (222 <= (v_y * 2))) {
        for (int v_ci_5 = 0; v_ci_5 < 8; ++v_ci_5) {
          const int v_o_33 = v_o_8 + (v_ci_5 * 49);
          const int v_o_36 = v_co_0_lane + (v_ci_5 * 33);
          for (int v_i_5 = 0; v_i_5 < min(2, (3 - (v_i * 2))); ++v_i_5) {
            const int v_o_34 = v_o_33 + v_i_5;
            const int v_o_37 = v_o_36 + (v_i_5 * 795);
            for (int v_j_4 = 0; v_j_4 < min(3, ((225 - (v_y * 2)) - v_y_0)); ++v_j_4) {
              const int v_o_35 = v_o_34 + (v_j_4 * 393);
              const int v_o_38 = v_o_37 + (v_j_4 * 265);
              const float v_D_33 = v_D_scratch[v_o_35];
              const float v_K_33 = v_K_scratch[v_o_38];
              const float v_sum_64 = v_O[0];
              const float v_sum_65 = fma(v_D_33, v_K_33, v_sum_64);
              v_O[0] = v_sum_65;
              const float v_D_34 = v_D_scratch[v_o_35 + 24];
              const float v_sum_66 = v_O[4];
              const float v_sum_67 = fma(v_D_34, v_K_33, v_sum_66);
              v_O[4] = v_sum_67;
              const float v_K_35 = v_K_scratch[v_o_38 + 8];
              const float v_sum_68 = v_O[1];
              const float v_sum_69 = fma(v_D_33, v_K_35, v_sum_68);
              v_O[1] = v_sum_69;
              const float v_sum_70 = v_O[5];
              const float v_sum_71 = fma(v_D_34, v_K_35, v_sum_70);
              v_O[5] = v_sum_71;
              const float v_K_37 = v_K_scratch[v_o_38 + 16];
              const float v_sum_72 = v_O[2];
              const float v_sum_73 = fma(v_D_33, v_K_37, v_sum_72);
              v_O[2] = v_sum_73;
              const float v_sum_74 = v_O[6];
              const float v_sum_75 = fma(v_D_34, v_K_37, v_sum_74);
              v_O[6] = v_sum_75;
              const float v_K_39 = v_K_scratch[v_o_38 + 24];
              const float v_sum_76 = v_O[3];
              const float v_sum_77 = fma(v_D_33, v_K_39, v_sum_76);
              v_O[3] = v_sum_77;
              const float v_sum_78 = v_O[7];
              const float v_sum_79 = fma(v_D_34, v_K_39, v_sum_78);
              v_O[7] = v_sum_79;
            }
          }
        }
      }
      if (((((1 <= ((v_i * 2) + (v_x * 2))) && (((v_i * 2) + (v_x * 2)) <= 222)) && (1 <= (v_y * 2))) && ((v_y * 2) <= 221)) && (2 <= (v_i * 2))) {
        for (int v_ci_6 = 0; v_ci_6 < 8; ++v_ci_6) {
          const int v_o_39 = v_o_8 + (v_ci_6 * 49);
          const int v_o_42 = v_co_0_lane + (v_ci_6 * 33);
          for (int v_i_6 = 0; v_i_6 < min(2, (3 - (v_i * 2))); ++v_i_6) {
            const int v_o_40 = v_o_39 + v_i_6;
            const int v_o_43 = v_o_42 + (v_i_6 * 795);
            for (int v_j_5 = 0; v_j_5 < 3; ++v_j_5) {
              const int v_o_41 = v_o_40 + (v_j_5 * 393);
              const int v_o_44 = v_o_43 + (v_j_5 * 265);
              const float v_D_41 = v_D_scratch[v_o_41];
              const float v_K_41 = v_K_scratch[v_o_44];
              const float v_sum_80 = v_O[0];
              const float v_sum_81 = fma(v_D_41, v_K_41, v_sum_80);
              v_O[0] = v_sum_81;
              const float v_D_42 = v_D_scratch[v_o_41 + 24];
              const float v_sum_82 = v_O[4];
              const float v_sum_83 = fma(v_D_42, v_K_41, v_sum_82);
              v_O[4] = v_sum_83;
              const float v_K_43 = v_K_scratch[v_o_44 + 8];
              const float v_sum_84 = v_O[1];
              const float v_sum_85 = fma(v_D_41, v_K_43, v_sum_84);
              v_O[1] = v_sum_85;
              const float v_sum_86 = v_O[5];
              const float v_sum_87 = fma(v_D_42, v_K_43, v_sum_86);
              v_O[5] = v_sum_87;
              const float v_K_45 = v_K_scratch[v_o_44 + 16];
              const float v_sum_88 = v_O[2];
              const float v_sum_89 = fma(v_D_41, v_K_45, v_sum_88);
              v_O[2] = v_sum_89;
              const float v_sum_90 = v_O[6];
              const float v_sum_91 = fma(v_D_42, v_K_45, v_sum_90);
              v_O[6] = v_sum_91;
              const float v_K_47 = v_K_scratch[v_o_44 + 24];
              const float v_sum_92 = v_O[3];
              const float v_sum_93 = fma(v_D_41, v_K_47, v_sum_92);
              v_O[3] = v_sum_93;
              const float v_sum_94 = v_O[7];
              const float v_sum_95 = fma(v_D_42, v_K_47, v_sum_94);
              v_O[7] = v_sum_95;
            }
          }
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  const float v_O_49 = v_O[0];
  const bool v_cmp_gt = 0.0f < v_O_49;
  const float v_R_1 = v_cmp_gt ? v_O_49 : 0.0f;
  v_R[v_o_45] = v_R_1;
  const float v_O_50 = v_O[4];
  const bool v_cmp_gt_1 = 0.0f < v_O_50;
  const float v_R_2 = v_cmp_gt_1 ? v_O_50 : 0.0f;
  v_R[v_o_45 + 25690112] = v_R_2;
  const float v_O_51 = v_O[1];
  const bool v_cmp_gt_2 = 0.0f < v_O_51;
  const float v_R_3 = v_cmp_gt_2 ? v_O_51 : 0.0f;
  v_R[v_o_45 + 8] = v_R_3;
  const float v_O_52 = v_O[5];
  const bool v_cmp_gt_3 = 0.0f < v_O_52;
  const float v_R_4 = v_cmp_gt_3 ? v_O_52 : 0.0f;
  v_R[v_o_45 + 25690120] = v_R_4;
  const float v_O_53 = v_O[2];
  const bool v_cmp_gt_4 = 0.0f < v_O_53;
  const float v_R_5 = v_cmp_gt_4 ? v_O_53 : 0.0f;
  v_R[v_o_45 + 16] = v_R_5;
  const float v_O_54 = v_O[6];
  const bool v_cmp_gt_5 = 0.0f < v_O_54;
  const float v_R_6 = v_cmp_gt_5 ? v_O_54 : 0.0f;
  v_R[v_o_45 + 25690128] = v_R_6;
  const float v_O_55 = v_O[3];
  const bool v_cmp_gt_6 = 0.0f < v_O_55;
  const float v_R_7 = v_cmp_gt_6 ? v_O_55 : 0.0f;
  v_R[v_o_45 + 24] = v_R_7;
  const float v_O_56 = v_O[7];
  const bool v_cmp_gt_7 = 0.0f < v_O_56;
  const float v_R_8 = v_cmp_gt_7 ? v_O_56 : 0.0f;
  v_R[v_o_45 + 25690136] = v_R_8;
}
